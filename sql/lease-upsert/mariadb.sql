-- A lease taken by INSERT IGNORE and UPDATE. See strategies/lease_upsert.c.

-- name: setup
CREATE TABLE shedlock (
    name varchar(64) PRIMARY KEY,
    lock_until datetime(6) NOT NULL,
    locked_at datetime(6) NOT NULL,
    locked_by varchar(64) NOT NULL,
    fence bigint NOT NULL DEFAULT 1
);

-- The first statement makes the row free; the next takes it if it is free, by a WHERE that is
-- evaluated with the row locked.
-- name: acquire
INSERT IGNORE INTO shedlock (name, lock_until, locked_at, locked_by, fence)
VALUES (:resource, '2000-01-01', '2000-01-01', '', 0);
-- require: row
UPDATE shedlock
SET lock_until = SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND, locked_at = SYSDATE(6),
    locked_by = :worker, fence = LAST_INSERT_ID(fence + 1)
WHERE name = :resource AND lock_until <= SYSDATE(6);
SELECT LAST_INSERT_ID() AS token;

-- name: renew
UPDATE shedlock SET lock_until = SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND
WHERE name = :resource AND locked_by = :worker AND fence = :token
  AND lock_until > SYSDATE(6);

-- name: release
UPDATE shedlock SET lock_until = SYSDATE(6)
WHERE name = :resource AND locked_by = :worker AND fence = :token AND lock_until > SYSDATE(6);

-- name: teardown
DROP TABLE shedlock;
