-- A row is a lock with an end. A worker that finds an expired one removes it, and inserts its own.
-- remove=found removes what it found; remove=any removes any row of that name. A common mechanism.
-- Truth expected: found right; any broken: two find the same row, and the second removes the first one's new
-- lock: exclusive.
--
-- strategy: takeover
-- shape: lock
-- claims: exclusive, recovery
-- option: remove = found | any

-- name: setup
CREATE TABLE locks (name varchar(60) PRIMARY KEY, owner varchar(60) NOT NULL, until_ms bigint NOT NULL);

-- name: acquire when remove=found
-- on-error: busy
SELECT owner AS old_owner, until_ms AS old_until FROM locks WHERE name = :resource AND until_ms <= :now;
-- if: row
DELETE FROM locks WHERE name = :resource AND owner = :old_owner AND until_ms = :old_until;
INSERT INTO locks (name, owner, until_ms) VALUES (:resource, :worker, :now + :ttl_ms);

-- name: acquire when remove=any
-- on-error: busy
SELECT owner AS old_owner FROM locks WHERE name = :resource AND until_ms <= :now;
-- if: row
DELETE FROM locks WHERE name = :resource;
INSERT INTO locks (name, owner, until_ms) VALUES (:resource, :worker, :now + :ttl_ms);

-- name: release
DELETE FROM locks WHERE name = :resource AND owner = :worker;

-- name: teardown
DROP TABLE locks;
