-- Jobs name their worker, and workers show that they live whenever they claim. A job of a worker that did not for too
-- long is to be tried again; a worker's row that is as old is deleted. Such jobs are looked for by the rows of old
-- workers (find=row), or of those that are old or have no row (find=missing).
-- After procrastinate-org/procrastinate#1518. Truth expected: row broken: once the row is deleted the job is found no more,
-- and stays with its dead worker for ever: recovery. missing right.
--
-- strategy: pruned-hidden
-- shape: queue
-- needs: skip_locked
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: find = row | missing
-- option: stalled_ms = 30000 (how long a worker without a sign of life counts as alive)

-- name: setup [postgres]
CREATE TABLE worker (name text PRIMARY KEY, seen_at timestamptz NOT NULL);
CREATE TABLE job (
    id bigint PRIMARY KEY,
    queue text NOT NULL,
    status text NOT NULL DEFAULT 'todo',
    attempt int NOT NULL DEFAULT 0,
    worker text,
    payload text
);
CREATE INDEX ON job (queue, status, id);

-- name: put [postgres]
INSERT INTO job (id, queue, payload) VALUES (:id, :class, :payload);

-- name: claim [postgres] tx=one
INSERT INTO worker (name, seen_at) VALUES (:worker, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET seen_at = clock_timestamp();
WITH next AS MATERIALIZED (
    SELECT id FROM job WHERE queue = :class AND status = 'todo' ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED
)
UPDATE job AS j SET status = 'doing', worker = :worker, attempt = attempt + 1
FROM next
WHERE j.id = next.id
RETURNING j.id, j.payload, j.attempt AS token;

-- name: complete [postgres]
UPDATE job SET status = 'done' WHERE id = :id AND status = 'doing' AND attempt = :token;

-- name: recover [postgres] when find=row
DELETE FROM worker WHERE seen_at < clock_timestamp() - :stalled_ms * interval '1 millisecond';
UPDATE job SET status = 'todo'
FROM worker AS w
WHERE job.status = 'doing' AND w.name = job.worker
  AND w.seen_at < clock_timestamp() - :stalled_ms * interval '1 millisecond';

-- name: recover [postgres] when find=missing
DELETE FROM worker WHERE seen_at < clock_timestamp() - :stalled_ms * interval '1 millisecond';
UPDATE job SET status = 'todo'
WHERE status = 'doing'
  AND NOT EXISTS (SELECT 1 FROM worker AS w
                  WHERE w.name = job.worker
                    AND w.seen_at >= clock_timestamp() - :stalled_ms * interval '1 millisecond');

-- name: teardown [postgres]
DROP TABLE job, worker;
