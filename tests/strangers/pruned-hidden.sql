-- Jobs name their process; processes register and beat. The row of a process that was not heard of for too long is
-- deleted, and its jobs are to be tried again. These are looked for by the rows of silent processes (find=row), or of
-- those that are silent or have no row (find=missing).
-- After procrastinate-org/procrastinate#1518. Truth expected: row broken: once the row is deleted the job is found no more,
-- and stays with its dead process for ever: recovery. missing right.
-- limit: stalled_ms
-- strategy: pruned-hidden
-- shape: queue
-- needs: skip_locked
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: find = row | missing
-- option: stalled_ms = 30000 (how long a process that is not heard of counts as alive)

-- name: setup [postgres]
CREATE TABLE process (name text PRIMARY KEY, seen_at timestamptz NOT NULL);
CREATE TABLE job (
    id bigint PRIMARY KEY,
    queue text NOT NULL,
    status text NOT NULL DEFAULT 'todo',
    attempt int NOT NULL DEFAULT 0,
    process text,
    payload text
);
CREATE INDEX ON job (queue, status, id);

-- name: register [postgres]
INSERT INTO process (name, seen_at) VALUES (:process, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET seen_at = clock_timestamp();

-- name: heartbeat [postgres]
UPDATE process SET seen_at = clock_timestamp() WHERE name = :process;

-- name: unregister [postgres]
DELETE FROM process WHERE name = :process;

-- name: put [postgres]
INSERT INTO job (id, queue, payload) VALUES (:id, :class, :payload);

-- name: claim [postgres]
WITH next AS MATERIALIZED (
    SELECT id FROM job WHERE queue = :class AND status = 'todo' ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED
)
UPDATE job AS j SET status = 'doing', process = :process, attempt = attempt + 1
FROM next
WHERE j.id = next.id
RETURNING j.id, j.payload, j.attempt AS token;

-- name: complete [postgres]
UPDATE job SET status = 'done' WHERE id = :id AND status = 'doing' AND attempt = :token;

-- name: recover [postgres] when find=row
DELETE FROM process WHERE seen_at < clock_timestamp() - :stalled_ms * interval '1 millisecond';
UPDATE job SET status = 'todo'
FROM process AS p
WHERE job.status = 'doing' AND p.name = job.process
  AND p.seen_at < clock_timestamp() - :stalled_ms * interval '1 millisecond';

-- name: recover [postgres] when find=missing
DELETE FROM process WHERE seen_at < clock_timestamp() - :stalled_ms * interval '1 millisecond';
UPDATE job SET status = 'todo'
WHERE status = 'doing' AND NOT EXISTS (SELECT 1 FROM process AS p WHERE p.name = job.process);

-- name: teardown [postgres]
DROP TABLE job, process;
