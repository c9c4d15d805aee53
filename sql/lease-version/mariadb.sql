-- A lease without a clock in the database. See strategies/lease_version.c.

-- name: setup
CREATE TABLE resource_lock (
    name varchar(64) PRIMARY KEY,
    owner varchar(64),
    fence bigint NOT NULL DEFAULT 0,
    version bigint NOT NULL DEFAULT 0
);

-- name: resource
INSERT INTO resource_lock (name) VALUES (:resource);

-- What the waiter saw stays with it between the polls; since when, it says at the next poll: a clock
-- that is read before the answer may be older than the version that the answer shows.
-- name: enqueue
SELECT version AS seen, NULL AS seen_at FROM resource_lock WHERE name = :resource;

-- name: acquire
-- require: row
SELECT version AS seen, CASE WHEN version = :seen THEN coalesce(:seen_at, :now) END AS seen_at
FROM resource_lock
WHERE name = :resource;
-- require: row
UPDATE resource_lock
SET owner = :worker, fence = LAST_INSERT_ID(fence + 1), version = version + 1
WHERE name = :resource AND version = :seen
  AND (owner IS NULL OR :now - :seen_at >= :ttl_ms);
SELECT LAST_INSERT_ID() AS token;

-- A heartbeat: the version moves, and every waiter begins to count anew.
-- name: renew
UPDATE resource_lock SET version = version + 1
WHERE name = :resource AND owner = :worker AND fence = :token;

-- name: release
UPDATE resource_lock SET owner = NULL, version = version + 1
WHERE name = :resource AND owner = :worker AND fence = :token;

-- name: teardown
DROP TABLE resource_lock;
