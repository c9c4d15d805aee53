-- Jobs go from todo to doing with SKIP LOCKED, with a heartbeat; stalled ones are put back to todo. The end asks
-- that the job is todo or doing, and neither for the worker nor for the attempt.
-- After procrastinate's fetch and finish functions and its stalled jobs. The statements are ours: no code of the
-- library was run, and no version of it is claimed.
-- Expected: broken: a stalled worker finishes what a second one is doing: owner-release.
--
-- strategy: procrastinate
-- shape: queue
-- needs: skip_locked
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery

-- name: setup [postgres]
CREATE TYPE job_status AS ENUM ('todo', 'doing', 'succeeded', 'failed');
CREATE TABLE jobs (
    id bigint PRIMARY KEY,
    queue_name text NOT NULL,
    args text,
    status job_status NOT NULL DEFAULT 'todo',
    attempts int NOT NULL DEFAULT 0,
    worker text,
    heartbeat timestamptz
);
CREATE INDEX jobs_todo ON jobs (queue_name, id) WHERE status = 'todo';
CREATE FUNCTION fetch_job(q text, w text) RETURNS SETOF jobs LANGUAGE sql AS $$
    WITH candidate AS (
        SELECT id FROM jobs WHERE queue_name = q AND status = 'todo' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    UPDATE jobs SET status = 'doing', worker = w, heartbeat = clock_timestamp()
    FROM candidate
    WHERE jobs.id = candidate.id
    RETURNING jobs.*;
$$;

-- name: put [postgres]
INSERT INTO jobs (id, queue_name, args) VALUES (:id, :class, :payload);

-- name: claim [postgres]
SELECT id, args AS payload FROM fetch_job(:class, :worker);

-- name: renew [postgres]
UPDATE jobs SET heartbeat = clock_timestamp() WHERE id = :id AND status = 'doing' AND worker = :worker;

-- name: complete [postgres]
UPDATE jobs SET status = 'succeeded', attempts = attempts + 1 WHERE id = :id AND status IN ('todo', 'doing');

-- name: error [postgres]
UPDATE jobs SET status = 'failed', attempts = attempts + 1 WHERE id = :id AND status IN ('todo', 'doing');

-- name: recover [postgres]
UPDATE jobs SET status = 'todo', attempts = attempts + 1, worker = NULL
WHERE status = 'doing' AND heartbeat < clock_timestamp() - :ttl_ms * interval '1 millisecond';

-- name: teardown [postgres]
DROP FUNCTION fetch_job(text, text);
DROP TABLE jobs;
DROP TYPE job_status;
