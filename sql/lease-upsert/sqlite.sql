-- A lease taken by INSERT ... ON CONFLICT. See strategies/lease_upsert.c.

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
    locked_by = :worker, fence = shedlock.fence + 1
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
