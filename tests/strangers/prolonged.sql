-- A lease that its holder prolongs. renew=from-now writes a new end; renew=added adds the length of the lease to the old
-- one: a worker that renews often has it for long, even after its death. A common mechanism. Truth expected: from-now
-- right; added broken: recovery.
--
-- strategy: prolonged
-- shape: lock
-- claims: exclusive, owner-release, recovery
-- option: renew = from-now | added

-- name: setup
CREATE TABLE lease (name varchar(60) PRIMARY KEY, owner varchar(60), until_ms bigint NOT NULL DEFAULT 0);

-- name: resource
INSERT INTO lease (name) VALUES (:resource);

-- name: acquire
UPDATE lease SET owner = :worker, until_ms = :now + :ttl_ms WHERE name = :resource AND until_ms <= :now;

-- name: renew when renew=from-now
UPDATE lease SET until_ms = :now + :ttl_ms WHERE name = :resource AND owner = :worker AND until_ms > :now;

-- name: renew when renew=added
UPDATE lease SET until_ms = until_ms + :ttl_ms WHERE name = :resource AND owner = :worker AND until_ms > :now;

-- name: release
UPDATE lease SET owner = NULL, until_ms = 0 WHERE name = :resource AND owner = :worker;

-- name: teardown
DROP TABLE lease;
