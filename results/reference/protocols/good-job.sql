-- A claim is an advisory lock of the session on the first candidate that can be locked. The candidates are a
-- snapshot: recheck=yes looks again, with the lock held, whether the job is finished; recheck=no trusts the list.
-- After GoodJob's advisory lock over a materialized CTE. The statements are ours: no code of the library was run,
-- and no version of it is claimed.
-- Expected: no broken: a job that was finished and unlocked after the list was made is run again: no-duplicate. yes
-- right.
--
-- strategy: good-job
-- shape: queue
-- needs: advisory
-- claims: no-duplicate, no-loss, bounded-claim, recovery
-- option: recheck = no | yes

-- name: setup [postgres]
CREATE TABLE good_jobs (
    id bigint PRIMARY KEY,
    queue_name text NOT NULL,
    serialized_params text,
    scheduled_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at timestamptz,
    error text
);
CREATE INDEX good_jobs_poll ON good_jobs (queue_name, scheduled_at, id) WHERE finished_at IS NULL;

-- name: put [postgres]
INSERT INTO good_jobs (id, queue_name, serialized_params) VALUES (:id, :class, :payload);

-- name: claim [postgres] session=keep when recheck=no
-- require: row
WITH candidates AS MATERIALIZED (
    SELECT id FROM good_jobs WHERE queue_name = :class AND finished_at IS NULL ORDER BY scheduled_at, id LIMIT 100
)
SELECT id FROM candidates WHERE pg_try_advisory_lock(:space_no::int, id::int) LIMIT 1;
SELECT id, serialized_params AS payload FROM good_jobs WHERE id = :id;

-- name: claim [postgres] session=keep when recheck=yes
-- require: row
WITH candidates AS MATERIALIZED (
    SELECT id FROM good_jobs WHERE queue_name = :class AND finished_at IS NULL ORDER BY scheduled_at, id LIMIT 100
)
SELECT id FROM candidates WHERE pg_try_advisory_lock(:space_no::int, id::int) LIMIT 1;
-- answer: row
SELECT id, serialized_params AS payload FROM good_jobs WHERE id = :id AND finished_at IS NULL;
SELECT pg_advisory_unlock(:space_no::int, :id::int)
WHERE EXISTS (SELECT 1 FROM good_jobs WHERE id = :id AND finished_at IS NOT NULL);

-- name: complete [postgres]
-- answer: row
UPDATE good_jobs SET finished_at = clock_timestamp() WHERE id = :id;
SELECT pg_advisory_unlock(:space_no::int, :id::int);

-- name: free [postgres]
SELECT pg_advisory_unlock(:space_no::int, :id::int) AS granted;

-- name: teardown [postgres]
DROP TABLE good_jobs;
