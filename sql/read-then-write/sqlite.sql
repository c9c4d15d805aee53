-- Control: look, then write. See strategies/read_then_write.c.

-- name: setup
CREATE TABLE resource_lock (
    name TEXT PRIMARY KEY,
    owner TEXT
);

-- name: resource
INSERT INTO resource_lock (name) VALUES (:resource);

-- name: acquire
-- require: row
SELECT 1 FROM resource_lock WHERE name = :resource AND owner IS NULL;
UPDATE resource_lock SET owner = :worker WHERE name = :resource;

-- name: release
UPDATE resource_lock SET owner = NULL WHERE name = :resource AND owner = :worker;

-- name: teardown
DROP TABLE resource_lock;
