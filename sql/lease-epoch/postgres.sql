-- lease-update-safe with an epoch in its fence. See strategies/lease_epoch.c.

-- name: setup
CREATE TABLE job_status (
    job_id text PRIMARY KEY,
    running_at text,
    last_run_started timestamptz,
    expires timestamptz,
    next_run timestamptz,
    fence bigint NOT NULL DEFAULT 0
);

-- name: resource
INSERT INTO job_status (job_id) VALUES (:resource);

-- clock_timestamp() in the second statement is read with the row already locked. The timeline is the
-- first eight digits of the name of the WAL file that is written now.
-- name: acquire tx=one
-- require: row
SELECT 1 FROM job_status WHERE job_id = :resource FOR UPDATE;
UPDATE job_status
SET running_at = :worker,
    last_run_started = clock_timestamp(),
    expires = clock_timestamp() + :ttl_ms * interval '1 millisecond',
    next_run = clock_timestamp() + :period_ms * interval '1 millisecond',
    fence = greatest(fence, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint << 40) + 1
WHERE job_id = :resource
  AND ((running_at IS NULL AND coalesce(next_run, '-infinity') <= clock_timestamp())
       OR (running_at IS NOT NULL AND expires <= clock_timestamp()))
RETURNING fence AS token,
          extract(epoch FROM expires - clock_timestamp())::float8 * 1000 AS left_ms;

-- name: renew tx=one
-- require: row
SELECT 1 FROM job_status WHERE job_id = :resource FOR UPDATE;
UPDATE job_status
SET expires = clock_timestamp() + :ttl_ms * interval '1 millisecond'
WHERE job_id = :resource AND running_at = :worker AND fence = :token
  AND expires > clock_timestamp();

-- name: release
UPDATE job_status SET running_at = NULL
WHERE job_id = :resource AND running_at = :worker AND fence = :token;

-- name: teardown
DROP TABLE job_status;
