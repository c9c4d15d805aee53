-- Control: a lease with an end that no statement reads. See strategies/lease_unread.c.

-- name: setup
CREATE TABLE job_lock (
    name varchar(64) PRIMARY KEY,
    locked_by varchar(64),
    lock_until datetime(6),
    fence bigint NOT NULL DEFAULT 0
);

-- name: resource
INSERT INTO job_lock (name) VALUES (:resource);

-- name: acquire
-- require: row
UPDATE job_lock
SET locked_by = :worker, lock_until = SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND, fence = LAST_INSERT_ID(fence + 1)
WHERE name = :resource AND locked_by IS NULL;
SELECT LAST_INSERT_ID() AS token;

-- name: renew
UPDATE job_lock SET lock_until = SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND
WHERE name = :resource AND locked_by = :worker AND fence = :token;

-- name: release
UPDATE job_lock SET locked_by = NULL
WHERE name = :resource AND locked_by = :worker AND fence = :token;

-- name: teardown
DROP TABLE job_lock;
