-- Control: a release that does not ask whose lock it is. See strategies/release_unowned.c.

-- name: setup
CREATE TABLE resource_lock (
    name text PRIMARY KEY,
    owner text,
    expires timestamptz,
    fence bigint NOT NULL DEFAULT 0
);

-- name: resource
INSERT INTO resource_lock (name) VALUES (:resource);

-- name: acquire tx=one
-- require: row
SELECT 1 FROM resource_lock WHERE name = :resource FOR UPDATE;
UPDATE resource_lock
SET owner = :worker, expires = clock_timestamp() + :ttl_ms * interval '1 millisecond', fence = fence + 1
WHERE name = :resource AND (owner IS NULL OR expires <= clock_timestamp())
RETURNING fence AS token;

-- The present holder loses it.
-- name: release
UPDATE resource_lock SET owner = NULL WHERE name = :resource;

-- name: teardown
DROP TABLE resource_lock;
