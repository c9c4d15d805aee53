-- One row per job, taken by a conditional UPDATE, as published. See strategies/lease_update.c.
-- Times are by the node's own clock, in milliseconds since 1970; times=second: whole seconds.

-- name: setup when times=ms slip=no
CREATE TABLE job_status (
    job_id text PRIMARY KEY,
    running_at text,
    last_run_started bigint,
    next_run bigint
);

-- name: resource when first_run=null
INSERT INTO job_status (job_id) VALUES (:resource);

-- name: resource when first_run=now times=ms
INSERT INTO job_status (job_id, next_run) VALUES (:resource, 0);

-- name: acquire when times=ms slip=no
UPDATE job_status
SET running_at = :worker, last_run_started = :now, next_run = :now + :period_ms
WHERE job_id = :resource
  AND ((running_at IS NULL AND next_run <= :now)
       OR (running_at IS NOT NULL AND last_run_started <= :now - :ttl_ms));

-- As the article's text slips: last_run is written, and last_run_started, which is NULL for ever, is asked.
-- name: setup when times=ms slip=yes
CREATE TABLE job_status (
    job_id text PRIMARY KEY,
    running_at text,
    last_run bigint,
    last_run_started bigint,
    next_run bigint
);

-- name: acquire when times=ms slip=yes
UPDATE job_status
SET running_at = :worker, last_run = :now, next_run = :now + :period_ms
WHERE job_id = :resource
  AND ((running_at IS NULL AND next_run <= :now)
       OR (running_at IS NOT NULL AND last_run_started <= :now - :ttl_ms));

-- Datetimes of whole seconds, which rounds.
-- name: setup when times=second slip=no
CREATE TABLE job_status (
    job_id text PRIMARY KEY,
    running_at text,
    last_run_started timestamp(0),
    next_run timestamp(0)
);

-- name: resource when first_run=now times=second
INSERT INTO job_status (job_id, next_run) VALUES (:resource, '1970-01-01 00:00:00');

-- name: acquire when times=second slip=no
UPDATE job_status
SET running_at = :worker, last_run_started = to_timestamp((:now) / 1000.0) AT TIME ZONE 'UTC',
    next_run = to_timestamp((:now + :period_ms) / 1000.0) AT TIME ZONE 'UTC'
WHERE job_id = :resource
  AND ((running_at IS NULL AND next_run <= to_timestamp((:now) / 1000.0) AT TIME ZONE 'UTC')
       OR (running_at IS NOT NULL
           AND last_run_started <= to_timestamp((:now - :ttl_ms) / 1000.0) AT TIME ZONE 'UTC'));

-- name: release
UPDATE job_status SET running_at = NULL WHERE job_id = :resource;

-- name: teardown
DROP TABLE job_status;
