-- A job is locked by an UPDATE over a sub-select with SKIP LOCKED; a lock that is older than four hours does not count.
-- When it has run the job's row is deleted by its number, and a failed one is given back by number and worker.
-- After graphile-worker's get_job, complete_job and fail_job. The statements are ours: no code of the library was run
-- for this file, and no version of it is claimed.
-- Expected: broken: who runs longer than the limit deletes the row under the second worker: owner-release.
--
-- strategy: graphile-worker
-- shape: queue
-- needs: skip_locked
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: ttl_ms = 14400000 (how old a lock may be)

-- name: setup [postgres]
CREATE TABLE jobs (
    id bigint PRIMARY KEY,
    task text NOT NULL,
    payload text,
    priority int NOT NULL DEFAULT 0,
    run_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempts int NOT NULL DEFAULT 0,
    max_attempts int NOT NULL DEFAULT 25,
    locked_at timestamptz,
    locked_by text
);
CREATE INDEX jobs_priority ON jobs (task, priority, run_at, id);

-- name: put [postgres]
INSERT INTO jobs (id, task, payload) VALUES (:id, :class, :payload);

-- name: claim [postgres]
UPDATE jobs
SET attempts = attempts + 1, locked_at = clock_timestamp(), locked_by = :worker
WHERE id = (SELECT id
            FROM jobs
            WHERE task = :class AND attempts < max_attempts AND run_at <= clock_timestamp()
              AND (locked_at IS NULL OR locked_at < clock_timestamp() - :ttl_ms * interval '1 millisecond')
            ORDER BY priority, run_at, id
            LIMIT 1
            FOR UPDATE SKIP LOCKED)
RETURNING id, payload;

-- name: complete [postgres]
DELETE FROM jobs WHERE id = :id;

-- name: free [postgres]
UPDATE jobs SET locked_at = NULL, locked_by = NULL WHERE id = :id AND locked_by = :worker;

-- name: teardown [postgres]
DROP TABLE jobs;
