-- The advisory walk of que: a claim is an advisory lock, found by walking the index.
--
-- Each step of the recursive CTE tries the lock of the next job; it stops at the first one it gets.
-- The job is looked at again with the lock held, because the walk's snapshot may show a job that was
-- finished, and unlocked, since. Leave that statement out to see jobs run twice.
--
--   lockbench run -s ./examples/que.sql -d postgresql://... -S drain
--
-- strategy: que
-- shape: queue
-- summary: the advisory walk of que
-- origin: que (github.com/que-rb/que), before version 1
-- needs: advisory
-- claims: no-duplicate, no-loss, bounded-claim, recovery

-- name: setup [postgres]
CREATE TABLE que_jobs (
    id bigint PRIMARY KEY,
    queue text NOT NULL,
    args text NOT NULL,
    run_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX que_poll ON que_jobs (queue, run_at, id);

-- name: put [postgres]
INSERT INTO que_jobs (id, queue, args)
SELECT i, :class, :payload FROM generate_series(:id::bigint, :id + :n - 1) AS i;

-- A session may lock twice what it has already, hence one job at a time.
-- name: claim [postgres] session=keep
-- require: row
WITH RECURSIVE walk AS (
    SELECT (j).id, (j).run_at, pg_try_advisory_lock(:space_no::int, (j).id::int) AS locked
    FROM (SELECT j FROM que_jobs AS j WHERE queue = :class ORDER BY run_at, id LIMIT 1) AS first
    UNION ALL
    SELECT (j).id, (j).run_at, pg_try_advisory_lock(:space_no::int, (j).id::int) AS locked
    FROM (SELECT (SELECT j
                  FROM que_jobs AS j
                  WHERE queue = :class AND (run_at, id) > (walk.run_at, walk.id)
                  ORDER BY run_at, id
                  LIMIT 1) AS j
          FROM walk
          WHERE NOT walk.locked
          LIMIT 1) AS next
    WHERE (j).id IS NOT NULL
)
SELECT id FROM walk WHERE locked LIMIT 1;
-- answer: row
SELECT id, args AS payload FROM que_jobs WHERE id = :id;
-- A job that is gone is unlocked again.
SELECT pg_advisory_unlock(:space_no::int, :id::int)
WHERE NOT EXISTS (SELECT 1 FROM que_jobs WHERE id = :id);

-- name: complete [postgres]
-- answer: row
DELETE FROM que_jobs WHERE id = :id;
SELECT pg_advisory_unlock(:space_no::int, :id::int);

-- name: free [postgres]
SELECT pg_advisory_unlock(:space_no::int, :id::int) AS granted;

-- name: teardown [postgres]
DROP TABLE que_jobs;
