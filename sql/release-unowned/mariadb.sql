-- Control: a release that does not ask whose lock it is. See strategies/release_unowned.c.

-- name: setup
CREATE TABLE resource_lock (
    name varchar(64) PRIMARY KEY,
    owner varchar(64),
    expires datetime(6),
    fence bigint NOT NULL DEFAULT 0
);

-- name: resource
INSERT INTO resource_lock (name) VALUES (:resource);

-- name: acquire
-- require: row
UPDATE resource_lock
SET owner = :worker, expires = SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND, fence = LAST_INSERT_ID(fence + 1)
WHERE name = :resource AND (owner IS NULL OR expires <= SYSDATE(6));
SELECT LAST_INSERT_ID() AS token;

-- The present holder loses it.
-- name: release
UPDATE resource_lock SET owner = NULL WHERE name = :resource;

-- name: teardown
DROP TABLE resource_lock;
