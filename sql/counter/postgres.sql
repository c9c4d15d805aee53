-- A counting semaphore. See strategies/counter.c.

-- name: setup
CREATE TABLE resource_lock (
    name text PRIMARY KEY,
    value bigint NOT NULL
);

-- name: resource
INSERT INTO resource_lock (name, value) VALUES (:resource, :capacity);

-- name: acquire
UPDATE resource_lock SET value = value - 1 WHERE name = :resource AND value > 0;

-- name: release
UPDATE resource_lock SET value = value + 1 WHERE name = :resource;

-- name: teardown
DROP TABLE resource_lock;
