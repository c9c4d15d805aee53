-- A row is the lock: insert it; where it is there already, take it over if its time is up. took=asked asks that in the
-- statement that takes it over, took=unasked has forgotten it.
-- After the two steps of ShedLock's JDBC provider. Truth expected: took=asked right, took=unasked broken: exclusive.
--
-- strategy: insert-else
-- shape: lock
-- claims: exclusive, owner-release
-- option: took = asked | unasked
-- rows: shared

-- name: setup
CREATE TABLE lock_row (name varchar(60) PRIMARY KEY, owner varchar(60) NOT NULL, until_ms bigint NOT NULL);

-- name: acquire [sqlite,postgres] when took=asked
INSERT INTO lock_row (name, owner, until_ms) VALUES (:resource, :worker, :now + :ttl_ms)
ON CONFLICT (name) DO NOTHING;
-- else
UPDATE lock_row SET owner = :worker, until_ms = :now + :ttl_ms WHERE name = :resource AND until_ms <= :now;

-- name: acquire [sqlite,postgres] when took=unasked
INSERT INTO lock_row (name, owner, until_ms) VALUES (:resource, :worker, :now + :ttl_ms)
ON CONFLICT (name) DO NOTHING;
-- else
UPDATE lock_row SET owner = :worker, until_ms = :now + :ttl_ms WHERE name = :resource;

-- name: release
DELETE FROM lock_row WHERE name = :resource AND owner = :worker;

-- name: teardown
DROP TABLE lock_row;
