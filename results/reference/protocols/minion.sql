-- A job is taken with SKIP LOCKED; the number of its retries, which each way back raises, tells one attempt from
-- the other, and the end asks for it.
-- After Minion's PostgreSQL back end (dequeue, finish, retry, repair). The statements are ours: no code of the
-- library was run, and no version of it is claimed.
-- Expected: right.
--
-- strategy: minion
-- shape: queue
-- needs: skip_locked
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery

-- name: setup [postgres]
CREATE TABLE minion_jobs (
    id bigint PRIMARY KEY,
    queue text NOT NULL,
    args text,
    state text NOT NULL DEFAULT 'inactive' CHECK (state IN ('inactive', 'active', 'failed', 'finished')),
    retries int NOT NULL DEFAULT 0,
    worker text,
    started timestamptz,
    finished timestamptz
);
CREATE INDEX ON minion_jobs (state, queue, id);

-- name: put [postgres]
INSERT INTO minion_jobs (id, queue, args) VALUES (:id, :class, :payload);

-- name: claim [postgres]
UPDATE minion_jobs SET started = clock_timestamp(), state = 'active', worker = :worker
WHERE id = (SELECT id FROM minion_jobs WHERE queue = :class AND state = 'inactive' ORDER BY id LIMIT 1
            FOR UPDATE SKIP LOCKED)
RETURNING id, args AS payload, retries AS token;

-- name: complete [postgres]
UPDATE minion_jobs SET finished = clock_timestamp(), state = 'finished'
WHERE id = :id AND retries = :token AND state = 'active';

-- name: error [postgres]
UPDATE minion_jobs SET finished = clock_timestamp(), state = 'failed'
WHERE id = :id AND retries = :token AND state = 'active';

-- name: free [postgres]
UPDATE minion_jobs SET state = 'inactive', retries = retries + 1, worker = NULL
WHERE id = :id AND retries = :token AND state = 'active';

-- name: clear-error [postgres]
UPDATE minion_jobs SET state = 'inactive', retries = retries + 1, worker = NULL WHERE id = :id AND state = 'failed';

-- name: clear-all-errors [postgres]
UPDATE minion_jobs SET state = 'inactive', retries = retries + 1, worker = NULL
WHERE queue = :class AND state = 'failed';

-- name: recover [postgres]
UPDATE minion_jobs SET state = 'inactive', retries = retries + 1, worker = NULL
WHERE state = 'active' AND started < clock_timestamp() - :ttl_ms * interval '1 millisecond';

-- name: teardown [postgres]
DROP TABLE minion_jobs;
