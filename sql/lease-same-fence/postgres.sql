-- Control: a lease whose fence a take-over does not raise. See strategies/lease_same_fence.c.

-- name: setup
CREATE TABLE shedlock (
    name text PRIMARY KEY,
    lock_until timestamptz NOT NULL,
    locked_at timestamptz NOT NULL,
    locked_by text NOT NULL,
    fence bigint NOT NULL DEFAULT 1
);

-- name: acquire
INSERT INTO shedlock (name, lock_until, locked_at, locked_by)
VALUES (:resource, clock_timestamp() + :ttl_ms * interval '1 millisecond', clock_timestamp(), :worker)
ON CONFLICT (name) DO UPDATE
SET lock_until = clock_timestamp() + :ttl_ms * interval '1 millisecond', locked_at = clock_timestamp(),
    locked_by = :worker
WHERE shedlock.lock_until <= clock_timestamp()
RETURNING fence AS token;

-- name: renew tx=one
-- require: row
SELECT 1 FROM shedlock WHERE name = :resource FOR UPDATE;
UPDATE shedlock SET lock_until = clock_timestamp() + :ttl_ms * interval '1 millisecond'
WHERE name = :resource AND locked_by = :worker AND fence = :token
  AND lock_until > clock_timestamp();

-- name: release
UPDATE shedlock SET lock_until = clock_timestamp()
WHERE name = :resource AND locked_by = :worker AND fence = :token AND lock_until > clock_timestamp();

-- name: teardown
DROP TABLE shedlock;
