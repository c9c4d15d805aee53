-- Claims with a lease, ended under the attempt. A job that does not want to run now is put back: by number
-- (snooze=number), or while the attempt is the same (snooze=attempt).
-- After Oban's snooze and retry. The statements are ours: no code of the library was run, and no version of it is
-- claimed.
-- Expected: number broken: who snoozes too late puts back what another one has taken, or has done: no-duplicate,
-- owner-release. attempt right.
--
-- strategy: snooze
-- shape: queue
-- needs: skip_locked
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: snooze = number | attempt

-- name: setup [postgres]
CREATE TABLE job (id bigint PRIMARY KEY, queue text NOT NULL, args text, state text NOT NULL DEFAULT 'available',
                  attempt int NOT NULL DEFAULT 0, lease_until timestamptz);
CREATE INDEX job_fetch ON job (queue, state, id);

-- name: put [postgres]
INSERT INTO job (id, queue, args) VALUES (:id, :class, :payload);

-- name: claim [postgres]
WITH free AS (
    SELECT id FROM job
    WHERE queue = :class AND (state = 'available' OR (state = 'executing' AND lease_until <= clock_timestamp()))
    ORDER BY id
    LIMIT :n
    FOR UPDATE SKIP LOCKED
)
UPDATE job SET state = 'executing', attempt = attempt + 1,
               lease_until = clock_timestamp() + :ttl_ms * interval '1 millisecond'
FROM free
WHERE job.id = free.id
RETURNING job.id, job.args AS payload, job.attempt AS token;

-- name: complete [postgres]
UPDATE job SET state = 'completed' WHERE id = :id AND state = 'executing' AND attempt = :token;

-- name: free [postgres] when snooze=number
UPDATE job SET state = 'available' WHERE id = :id;

-- name: free [postgres] when snooze=attempt
UPDATE job SET state = 'available' WHERE id = :id AND state = 'executing' AND attempt = :token;

-- name: teardown [postgres]
DROP TABLE job;
