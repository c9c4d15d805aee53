-- A row lock held by a transaction, asked for without waiting. See strategies/row_lock_nowait.c.

-- name: setup
CREATE TABLE resource_lock (name text PRIMARY KEY);

-- name: resource
INSERT INTO resource_lock (name) VALUES (:resource);

-- name: acquire tx=hold
SELECT 1 FROM resource_lock WHERE name = :resource FOR UPDATE NOWAIT;

-- The commit is the release.
-- name: release

-- name: teardown
DROP TABLE resource_lock;
