-- One row per job, taken by a conditional UPDATE, as published. See strategies/lease_update.c.
-- Times are milliseconds since 1970 by the node's own clock.

-- name: setup
CREATE TABLE job_status (
    job_id varchar(64) PRIMARY KEY,
    running_at varchar(64),
    last_run_started bigint,
    next_run bigint
);

-- name: resource when first_run=null
INSERT INTO job_status (job_id) VALUES (:resource);

-- name: resource when first_run=now
INSERT INTO job_status (job_id, next_run) VALUES (:resource, 0);

-- name: acquire
UPDATE job_status
SET running_at = :worker, last_run_started = :now, next_run = :now + :period_ms
WHERE job_id = :resource
  AND ((running_at IS NULL AND next_run <= :now)
       OR (running_at IS NOT NULL AND last_run_started <= :now - :ttl_ms));

-- name: release
UPDATE job_status SET running_at = NULL WHERE job_id = :resource;

-- name: teardown
DROP TABLE job_status;
