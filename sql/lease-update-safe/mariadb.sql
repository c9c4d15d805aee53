-- The repaired twin of lease-update. See strategies/lease_update_safe.c.

-- name: setup
CREATE TABLE job_status (
    job_id varchar(64) PRIMARY KEY,
    running_at varchar(64),
    last_run_started datetime(6),
    expires datetime(6),
    next_run datetime(6),
    fence bigint NOT NULL DEFAULT 0
);

-- name: resource
INSERT INTO job_status (job_id) VALUES (:resource);

-- SYSDATE(6) in the second statement is read with the row already locked.
-- name: acquire tx=one
-- require: row
SELECT 1 FROM job_status WHERE job_id = :resource FOR UPDATE;
-- require: row
UPDATE job_status
SET running_at = :worker,
    last_run_started = SYSDATE(6),
    expires = SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND,
    next_run = SYSDATE(6) + INTERVAL :period_ms * 1000 MICROSECOND,
    fence = LAST_INSERT_ID(fence + 1)
WHERE job_id = :resource
  AND ((running_at IS NULL AND coalesce(next_run, '2000-01-01') <= SYSDATE(6))
       OR (running_at IS NOT NULL AND expires <= SYSDATE(6)));
SELECT LAST_INSERT_ID() AS token;

-- name: renew tx=one
-- require: row
SELECT 1 FROM job_status WHERE job_id = :resource FOR UPDATE;
UPDATE job_status
SET expires = SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND
WHERE job_id = :resource AND running_at = :worker AND fence = :token
  AND expires > SYSDATE(6);

-- name: release
UPDATE job_status SET running_at = NULL
WHERE job_id = :resource AND running_at = :worker AND fence = :token;

-- name: teardown
DROP TABLE job_status;
