-- Control: a lease from a time before the wait. See strategies/lease_now.c.

-- name: setup
CREATE TABLE resource_lock (
    name varchar(64) PRIMARY KEY,
    owner varchar(64),
    expires datetime(6),
    fence bigint NOT NULL DEFAULT 0
);

-- name: resource
INSERT INTO resource_lock (name) VALUES (:resource);

-- The time is the statement's, or the transaction's, start: before it waited for the row.
-- name: acquire
-- require: row
UPDATE resource_lock
SET owner = :worker, expires = NOW(6) + INTERVAL :ttl_ms * 1000 MICROSECOND, fence = LAST_INSERT_ID(fence + 1)
WHERE name = :resource AND (owner IS NULL OR expires <= NOW(6));
SELECT LAST_INSERT_ID() AS token;

-- name: release
UPDATE resource_lock SET owner = NULL
WHERE name = :resource AND owner = :worker AND fence = :token;

-- name: teardown
DROP TABLE resource_lock;
