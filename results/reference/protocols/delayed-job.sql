-- A job is reserved by an UPDATE over a locked sub-select; a reservation counts for max_run_time and may be taken
-- over after that. When it has run the job's row is destroyed, by its primary key.
-- After delayed_job's ActiveRecord back end (reserve, destroy, fail). The statements are ours: no code of the
-- library was run, and no version of it is claimed.
-- Expected: broken: who runs longer than max_run_time destroys the row under the second worker: owner-release.
--
-- strategy: delayed-job
-- shape: queue
-- needs: skip_locked
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: ttl_ms = 14400000 (max_run_time)

-- name: setup [postgres]
CREATE TABLE delayed_jobs (
    id bigint PRIMARY KEY,
    queue text NOT NULL,
    handler text NOT NULL,
    priority int NOT NULL DEFAULT 0,
    run_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    locked_at timestamptz,
    locked_by text,
    failed_at timestamptz
);
CREATE INDEX delayed_jobs_priority ON delayed_jobs (priority, run_at);

-- name: put [postgres]
INSERT INTO delayed_jobs (id, queue, handler) VALUES (:id, :class, :payload);

-- name: claim [postgres]
UPDATE delayed_jobs
SET locked_at = clock_timestamp(), locked_by = :worker
WHERE id = (SELECT id
            FROM delayed_jobs
            WHERE queue = :class AND failed_at IS NULL AND run_at <= clock_timestamp()
              AND (locked_at IS NULL OR locked_at < clock_timestamp() - :ttl_ms * interval '1 millisecond')
            ORDER BY priority, run_at, id
            LIMIT 1
            FOR UPDATE SKIP LOCKED)
RETURNING id, handler AS payload;

-- name: complete [postgres]
DELETE FROM delayed_jobs WHERE id = :id;

-- name: error [postgres]
UPDATE delayed_jobs SET failed_at = clock_timestamp(), locked_at = NULL, locked_by = NULL WHERE id = :id;

-- name: teardown [postgres]
DROP TABLE delayed_jobs;
