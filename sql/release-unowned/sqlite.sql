-- Control: a release that does not ask whose lock it is. See strategies/release_unowned.c.

-- name: setup
CREATE TABLE resource_lock (
    name TEXT PRIMARY KEY,
    owner TEXT,
    expires REAL,
    fence INTEGER NOT NULL DEFAULT 0
);

-- name: resource
INSERT INTO resource_lock (name) VALUES (:resource);

-- name: acquire
UPDATE resource_lock
SET owner = :worker, expires = julianday('now') + :ttl_ms / 86400000.0, fence = fence + 1
WHERE name = :resource AND (owner IS NULL OR expires <= julianday('now'))
RETURNING fence AS token;

-- The present holder loses it.
-- name: release
UPDATE resource_lock SET owner = NULL WHERE name = :resource;

-- name: teardown
DROP TABLE resource_lock;
