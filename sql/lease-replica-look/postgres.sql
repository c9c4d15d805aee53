-- Control: a lease that is looked at on a replica. See strategies/lease_replica_look.c.

-- name: setup
CREATE TABLE lease (
    name text PRIMARY KEY,
    owner text,
    lease_until timestamptz,
    fence bigint NOT NULL DEFAULT 0
);

-- name: resource
INSERT INTO lease (name) VALUES (:resource);

-- name: acquire tx=one
-- require: row
SELECT 1 FROM lease WHERE name = :resource FOR UPDATE;
-- on: replica
-- require: row
SELECT 1 FROM lease WHERE name = :resource AND (owner IS NULL OR lease_until <= clock_timestamp());
UPDATE lease
SET owner = :worker, lease_until = clock_timestamp() + :ttl_ms * interval '1 millisecond', fence = fence + 1
WHERE name = :resource
RETURNING fence AS token;

-- name: renew tx=one
-- require: row
SELECT 1 FROM lease WHERE name = :resource FOR UPDATE;
UPDATE lease SET lease_until = clock_timestamp() + :ttl_ms * interval '1 millisecond'
WHERE name = :resource AND owner = :worker AND fence = :token AND lease_until > clock_timestamp();

-- name: release
UPDATE lease SET owner = NULL
WHERE name = :resource AND owner = :worker AND fence = :token;

-- name: teardown
DROP TABLE lease;
