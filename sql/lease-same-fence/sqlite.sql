-- Control: a lease whose fence a take-over does not raise. See strategies/lease_same_fence.c.

-- name: setup
CREATE TABLE shedlock (
    name TEXT PRIMARY KEY,
    lock_until REAL NOT NULL,
    locked_at REAL NOT NULL,
    locked_by TEXT NOT NULL,
    fence INTEGER NOT NULL DEFAULT 1
);

-- name: acquire
INSERT INTO shedlock (name, lock_until, locked_at, locked_by)
VALUES (:resource, julianday('now') + :ttl_ms / 86400000.0, julianday('now'), :worker)
ON CONFLICT (name) DO UPDATE
SET lock_until = julianday('now') + :ttl_ms / 86400000.0, locked_at = julianday('now'),
    locked_by = :worker
WHERE shedlock.lock_until <= julianday('now')
RETURNING fence AS token;

-- name: renew
UPDATE shedlock SET lock_until = julianday('now') + :ttl_ms / 86400000.0
WHERE name = :resource AND locked_by = :worker AND fence = :token
  AND lock_until > julianday('now');

-- name: release
UPDATE shedlock SET lock_until = julianday('now')
WHERE name = :resource AND locked_by = :worker AND fence = :token AND lock_until > julianday('now');

-- name: teardown
DROP TABLE shedlock;
