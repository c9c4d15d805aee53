-- Control: a lease from a time before the wait. See strategies/lease_now.c.

-- name: setup
CREATE TABLE resource_lock (
    name text PRIMARY KEY,
    owner text,
    expires timestamptz,
    fence bigint NOT NULL DEFAULT 0
);

-- name: resource
INSERT INTO resource_lock (name) VALUES (:resource);

-- The time is the statement's, or the transaction's, start: before it waited for the row.
-- name: acquire
UPDATE resource_lock
SET owner = :worker, expires = now() + :ttl_ms * interval '1 millisecond', fence = fence + 1
WHERE name = :resource AND (owner IS NULL OR expires <= now())
RETURNING fence AS token,
          extract(epoch FROM expires - clock_timestamp())::float8 * 1000 AS left_ms;

-- name: release
UPDATE resource_lock SET owner = NULL
WHERE name = :resource AND owner = :worker AND fence = :token;

-- name: teardown
DROP TABLE resource_lock;
