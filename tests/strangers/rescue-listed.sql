-- A rescuer lists the jobs that have run for too long, and later puts them back by number (check=number), or only if
-- they still run since then (check=state). Workers end a job under its state and attempt.
-- After riverqueue/river#1302 and its fix. Truth expected: number broken: a job that is completed between the list and the
-- update is available again: no-duplicate. state right.
-- limit: rescue_after_ms
-- strategy: rescue-listed
-- shape: queue
-- needs: skip_locked
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: check = number | state
-- option: rescue_after_ms = 3600000 (how long a job may run)

-- name: setup [postgres]
CREATE TABLE task (
    id bigint PRIMARY KEY,
    class text NOT NULL,
    state text NOT NULL DEFAULT 'available',
    attempt int NOT NULL DEFAULT 0,
    started_at timestamptz,
    payload text
);
CREATE INDEX ON task (class, state, id);

-- name: put [postgres]
INSERT INTO task (id, class, payload) VALUES (:id, :class, :payload);

-- name: claim [postgres]
WITH next AS MATERIALIZED (
    SELECT id FROM task WHERE class = :class AND state = 'available' ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED
)
UPDATE task AS t SET state = 'running', attempt = attempt + 1, started_at = clock_timestamp()
FROM next
WHERE t.id = next.id
RETURNING t.id, t.payload, t.attempt AS token;

-- name: complete [postgres]
UPDATE task SET state = 'completed' WHERE id = :id AND state = 'running' AND attempt = :token;

-- name: recover [postgres] when check=number
SELECT array_agg(id)::text AS stuck
FROM task
WHERE state = 'running' AND started_at < clock_timestamp() - :rescue_after_ms * interval '1 millisecond';
UPDATE task SET state = 'available' WHERE id = ANY (:stuck::text::bigint[]);

-- name: recover [postgres] when check=state
SELECT array_agg(id)::text AS stuck
FROM task
WHERE state = 'running' AND started_at < clock_timestamp() - :rescue_after_ms * interval '1 millisecond';
UPDATE task SET state = 'available'
WHERE id = ANY (:stuck::text::bigint[])
  AND state = 'running' AND started_at < clock_timestamp() - :rescue_after_ms * interval '1 millisecond';

-- name: teardown [postgres]
DROP TABLE task;
