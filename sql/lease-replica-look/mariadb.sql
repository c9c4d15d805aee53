-- Control: a lease that is looked at on a replica. See strategies/lease_replica_look.c.

-- name: setup
CREATE TABLE lease (
    name varchar(64) PRIMARY KEY,
    owner varchar(64),
    lease_until datetime(6),
    fence bigint NOT NULL DEFAULT 0
);

-- name: resource
INSERT INTO lease (name) VALUES (:resource);

-- name: acquire tx=one
-- require: row
SELECT 1 FROM lease WHERE name = :resource FOR UPDATE;
-- on: replica
-- require: row
SELECT 1 FROM lease WHERE name = :resource AND (owner IS NULL OR lease_until <= SYSDATE(6));
-- require: row
UPDATE lease
SET owner = :worker, lease_until = SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND, fence = LAST_INSERT_ID(fence + 1)
WHERE name = :resource;
SELECT LAST_INSERT_ID() AS token;

-- name: renew tx=one
-- require: row
SELECT 1 FROM lease WHERE name = :resource FOR UPDATE;
UPDATE lease SET lease_until = SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND
WHERE name = :resource AND owner = :worker AND fence = :token AND lease_until > SYSDATE(6);

-- name: release
UPDATE lease SET owner = NULL
WHERE name = :resource AND owner = :worker AND fence = :token;

-- name: teardown
DROP TABLE lease;
