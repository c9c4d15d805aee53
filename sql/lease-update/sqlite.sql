-- One row per job, taken by a conditional UPDATE, as published. See strategies/lease_update.c.
-- Times are by the node's own clock, in milliseconds since 1970; times=second: whole seconds.

-- name: setup when times=ms slip=no
CREATE TABLE job_status (
    job_id TEXT PRIMARY KEY,
    running_at TEXT,
    last_run_started INTEGER,
    next_run INTEGER
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
    job_id TEXT PRIMARY KEY,
    running_at TEXT,
    last_run INTEGER,
    last_run_started INTEGER,
    next_run INTEGER
);

-- name: acquire when times=ms slip=yes
UPDATE job_status
SET running_at = :worker, last_run = :now, next_run = :now + :period_ms
WHERE job_id = :resource
  AND ((running_at IS NULL AND next_run <= :now)
       OR (running_at IS NOT NULL AND last_run_started <= :now - :ttl_ms));

-- Datetimes of whole seconds, which cuts the fraction off.
-- name: setup when times=second slip=no
CREATE TABLE job_status (
    job_id TEXT PRIMARY KEY,
    running_at TEXT,
    last_run_started TEXT,
    next_run TEXT
);

-- name: resource when first_run=now times=second
INSERT INTO job_status (job_id, next_run) VALUES (:resource, '1970-01-01 00:00:00');

-- name: acquire when times=second slip=no
UPDATE job_status
SET running_at = :worker, last_run_started = datetime((:now) / 1000.0, 'unixepoch'),
    next_run = datetime((:now + :period_ms) / 1000.0, 'unixepoch')
WHERE job_id = :resource
  AND ((running_at IS NULL AND next_run <= strftime('%Y-%m-%d %H:%M:%f', (:now) / 1000.0, 'unixepoch'))
       OR (running_at IS NOT NULL
           AND last_run_started <= strftime('%Y-%m-%d %H:%M:%f', (:now - :ttl_ms) / 1000.0, 'unixepoch')));

-- name: release
UPDATE job_status SET running_at = NULL WHERE job_id = :resource;

-- name: teardown
DROP TABLE job_status;
