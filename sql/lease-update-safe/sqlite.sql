-- The repaired twin of lease-update. See strategies/lease_update_safe.c.
-- SQLite reads 'now' when the statement first evaluates it, which is after it got the write lock.

-- name: setup
CREATE TABLE job_status (
    job_id TEXT PRIMARY KEY,
    running_at TEXT,
    last_run_started REAL,
    expires REAL,
    next_run REAL,
    fence INTEGER NOT NULL DEFAULT 0
);

-- name: resource
INSERT INTO job_status (job_id) VALUES (:resource);

-- name: acquire
UPDATE job_status
SET running_at = :worker,
    last_run_started = julianday('now'),
    expires = julianday('now') + :ttl_ms / 86400000.0,
    next_run = julianday('now') + :period_ms / 86400000.0,
    fence = fence + 1
WHERE job_id = :resource
  AND ((running_at IS NULL AND coalesce(next_run, 0) <= julianday('now'))
       OR (running_at IS NOT NULL AND expires <= julianday('now')))
RETURNING fence AS token;

-- name: renew
UPDATE job_status
SET expires = julianday('now') + :ttl_ms / 86400000.0
WHERE job_id = :resource AND running_at = :worker AND fence = :token
  AND expires > julianday('now');

-- name: release
UPDATE job_status SET running_at = NULL
WHERE job_id = :resource AND running_at = :worker AND fence = :token;

-- name: teardown
DROP TABLE job_status;
