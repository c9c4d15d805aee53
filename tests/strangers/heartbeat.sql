-- A worker says at times that it is still at its job; a rescuer frees jobs that were not heard of for too long.
-- rescue=silent goes by the last beat. rescue=old goes by the time of the claim: jobs are freed under workers that beat.
-- beat=number asks for the job's number alone: who was asleep beats for a job that is another's by now, and goes on.
-- After the heartbeats of river, oban and delayed job queues. Truth expected: right as it is; rescue=old and
-- beat=number broken: no-duplicate.
--
-- strategy: heartbeat
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: rescue_after_ms = 3600000
-- option: rescue = silent | old
-- option: beat = own | number

-- name: setup [sqlite]
CREATE TABLE job (
    id integer PRIMARY KEY,
    args text,
    state text NOT NULL DEFAULT 'available',
    attempt integer NOT NULL DEFAULT 0,
    attempted_at real,
    beat_at real
);

-- name: setup [postgres]
CREATE TABLE job (
    id bigint PRIMARY KEY,
    args text,
    state text NOT NULL DEFAULT 'available',
    attempt int NOT NULL DEFAULT 0,
    attempted_at timestamptz,
    beat_at timestamptz
);

-- name: put
INSERT INTO job (id, args) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE job SET state = 'executing', attempt = attempt + 1, attempted_at = julianday('now'), beat_at = julianday('now')
WHERE id IN (SELECT id FROM job WHERE state = 'available' ORDER BY id LIMIT :n)
RETURNING id, args AS payload, attempt AS token;

-- name: claim [postgres]
UPDATE job SET state = 'executing', attempt = attempt + 1, attempted_at = clock_timestamp(), beat_at = clock_timestamp()
WHERE id = ANY (ARRAY (SELECT id FROM job WHERE state = 'available' ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED))
RETURNING id, args AS payload, attempt AS token;

-- name: renew [sqlite] when beat=own
UPDATE job SET beat_at = julianday('now') WHERE id = :id AND state = 'executing' AND attempt = :token;

-- name: renew [sqlite] when beat=number
UPDATE job SET beat_at = julianday('now') WHERE id = :id AND state = 'executing';

-- name: renew [postgres] when beat=own
UPDATE job SET beat_at = clock_timestamp() WHERE id = :id AND state = 'executing' AND attempt = :token;

-- name: renew [postgres] when beat=number
UPDATE job SET beat_at = clock_timestamp() WHERE id = :id AND state = 'executing';

-- name: complete
UPDATE job SET state = 'completed' WHERE id = :id AND state = 'executing' AND attempt = :token;

-- name: recover [sqlite] when rescue=silent
UPDATE job SET state = 'available'
WHERE state = 'executing' AND beat_at < julianday('now') - :rescue_after_ms / 86400000.0;

-- name: recover [sqlite] when rescue=old
UPDATE job SET state = 'available'
WHERE state = 'executing' AND attempted_at < julianday('now') - :rescue_after_ms / 86400000.0;

-- name: recover [postgres] when rescue=silent
UPDATE job SET state = 'available'
WHERE state = 'executing' AND beat_at < clock_timestamp() - :rescue_after_ms * interval '1 millisecond';

-- name: recover [postgres] when rescue=old
UPDATE job SET state = 'available'
WHERE state = 'executing' AND attempted_at < clock_timestamp() - :rescue_after_ms * interval '1 millisecond';

-- name: teardown
DROP TABLE job;
