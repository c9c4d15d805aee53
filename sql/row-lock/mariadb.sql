-- A row lock held by a transaction. See strategies/row_lock.c.

-- name: setup
CREATE TABLE resource_lock (name varchar(64) PRIMARY KEY);

-- name: resource
INSERT INTO resource_lock (name) VALUES (:resource);

-- name: acquire tx=hold
SELECT 1 FROM resource_lock WHERE name = :resource FOR UPDATE;

-- The commit is the release.
-- name: release

-- name: teardown
DROP TABLE resource_lock;
