-- The claim that pgmq, River, graphile-worker, Oban and pg-boss have in common: a CTE with FOR UPDATE
-- SKIP LOCKED, joined to the UPDATE that marks what it found.
--
-- The job's attempt number is the claim's token: finishing asks for it, which pgmq's delete by
-- msg_id does not (take it out of `complete` and run queue-overrun to see what that means).
--
--   lockbench verify -s ./examples/skip-locked-claim.sql -d postgresql://...
--
-- strategy: skip-locked-claim
-- shape: queue
-- summary: the CTE claim of pgmq and River
-- origin: riverqueue.com, github.com/pgmq/pgmq
-- needs: skip_locked, returning
-- claims: no-duplicate, no-loss, bounded-claim, owner-release

-- name: setup [postgres]
CREATE TABLE river_job (
    id bigint PRIMARY KEY,
    queue text NOT NULL,
    state text NOT NULL DEFAULT 'available',
    args text NOT NULL,
    attempt bigint NOT NULL DEFAULT 0,
    attempted_by text,
    scheduled_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX river_job_fetch ON river_job (queue, scheduled_at, id) WHERE state = 'available';

-- name: put [postgres]
INSERT INTO river_job (id, queue, args)
SELECT i, :class, :payload FROM generate_series(:id::bigint, :id + :n - 1) AS i;

-- name: claim [postgres]
WITH locked_jobs AS (
    SELECT id
    FROM river_job
    WHERE queue = :class AND state = 'available' AND scheduled_at <= clock_timestamp()
    ORDER BY scheduled_at, id
    LIMIT :n
    FOR UPDATE SKIP LOCKED
)
UPDATE river_job
SET state = 'running', attempt = attempt + 1, attempted_by = :worker
FROM locked_jobs
WHERE river_job.id = locked_jobs.id
RETURNING river_job.id, river_job.args AS payload, river_job.attempt AS token;

-- name: complete [postgres]
UPDATE river_job SET state = 'completed'
WHERE id = :id AND state = 'running' AND attempted_by = :worker AND attempt = :token;

-- name: error [postgres]
UPDATE river_job SET state = 'discarded'
WHERE id = :id AND state = 'running' AND attempted_by = :worker AND attempt = :token;

-- name: free [postgres]
UPDATE river_job SET state = 'available', attempted_by = NULL
WHERE id = :id AND state = 'running' AND attempted_by = :worker AND attempt = :token;

-- name: clear-error [postgres]
UPDATE river_job SET state = 'available' WHERE id = :id AND state = 'discarded';

-- name: clear-all-errors [postgres]
UPDATE river_job SET state = 'available' WHERE queue = :class AND state = 'discarded';

-- name: reset-all [postgres]
UPDATE river_job SET state = 'available' WHERE queue = :class AND state = 'completed';

-- name: teardown [postgres]
DROP TABLE river_job;
