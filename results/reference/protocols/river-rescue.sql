-- Claims with SKIP LOCKED, ended under state, worker and attempt. A rescuer puts back what has run for too long:
-- rescue=listed reads the stuck jobs and updates them by number, rescue=direct does both in one UPDATE.
-- After River's job rescuer (get stuck, rescue many). The statements are ours: no code of the library was run, and
-- no version of it is claimed.
-- Expected: listed broken: a job that is completed between the list and the update is ready again: no-duplicate.
-- direct right.
--
-- strategy: river-rescue
-- shape: queue
-- needs: skip_locked
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: rescue = listed | direct

-- name: setup [postgres]
CREATE TABLE river_job (
    id bigint PRIMARY KEY,
    queue text NOT NULL,
    state text NOT NULL DEFAULT 'available',
    args text,
    attempt bigint NOT NULL DEFAULT 0,
    attempted_by text,
    attempted_at timestamptz
);
CREATE INDEX river_job_fetch ON river_job (queue, state, id);

-- name: put [postgres]
INSERT INTO river_job (id, queue, args)
SELECT i, :class, :payload FROM generate_series(:id::bigint, :id + :n - 1) AS i;

-- name: claim [postgres]
WITH locked AS (
    SELECT id FROM river_job WHERE queue = :class AND state = 'available' ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED
)
UPDATE river_job AS j
SET state = 'running', attempt = j.attempt + 1, attempted_by = :worker, attempted_at = clock_timestamp()
FROM locked
WHERE j.id = locked.id
RETURNING j.id, j.args AS payload, j.attempt AS token;

-- name: complete [postgres]
UPDATE river_job SET state = 'completed'
WHERE id = :id AND state = 'running' AND attempted_by = :worker AND attempt = :token;

-- name: error [postgres]
UPDATE river_job SET state = 'discarded'
WHERE id = :id AND state = 'running' AND attempted_by = :worker AND attempt = :token;

-- name: recover [postgres] when rescue=listed
SELECT string_agg(id::text, ',') AS stuck
FROM (SELECT id
      FROM river_job
      WHERE state = 'running' AND attempted_at < clock_timestamp() - :ttl_ms * interval '1 millisecond'
      ORDER BY id
      LIMIT 40) AS s;
UPDATE river_job SET state = 'available' WHERE id = ANY (string_to_array(:stuck, ',')::bigint[]);

-- name: recover [postgres] when rescue=direct
UPDATE river_job SET state = 'available'
WHERE state = 'running' AND attempted_at < clock_timestamp() - :ttl_ms * interval '1 millisecond';

-- name: teardown [postgres]
DROP TABLE river_job;
