-- Control: a lease with an end that no statement reads. See strategies/lease_unread.c.

-- name: setup
CREATE TABLE job_lock (
    name TEXT PRIMARY KEY,
    locked_by TEXT,
    lock_until REAL,
    fence INTEGER NOT NULL DEFAULT 0
);

-- name: resource
INSERT INTO job_lock (name) VALUES (:resource);

-- name: acquire
UPDATE job_lock
SET locked_by = :worker, lock_until = julianday('now') + :ttl_ms / 86400000.0, fence = fence + 1
WHERE name = :resource AND locked_by IS NULL
RETURNING fence AS token;

-- name: renew
UPDATE job_lock SET lock_until = julianday('now') + :ttl_ms / 86400000.0
WHERE name = :resource AND locked_by = :worker AND fence = :token;

-- name: release
UPDATE job_lock SET locked_by = NULL
WHERE name = :resource AND locked_by = :worker AND fence = :token;

-- name: teardown
DROP TABLE job_lock;
