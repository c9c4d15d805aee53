-- A job is marked before it is done, and is never done twice: people check the jobs that a worker took and did not
-- finish. after=lost marks such a job; after=again makes it ready, as most queues do: the next worker begins what
-- the first one had begun, and may not have lost. A common mechanism. Truth expected: lost right; again broken:
-- once.
-- limit: stuck_after_ms
-- strategy: at-most-once
-- shape: queue
-- claims: no-duplicate, bounded-claim, owner-release, once
-- option: after = lost | again
-- option: stuck_after_ms = 3600000

-- name: setup [sqlite]
CREATE TABLE job (id integer PRIMARY KEY, state text NOT NULL DEFAULT 'ready', attempt integer NOT NULL DEFAULT 0,
                  taken_at real, payload text);

-- name: setup [postgres]
CREATE TABLE job (id bigint PRIMARY KEY, state text NOT NULL DEFAULT 'ready', attempt int NOT NULL DEFAULT 0,
                  taken_at timestamptz, payload text);

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE job SET state = 'taken', attempt = attempt + 1, taken_at = julianday('now')
WHERE id IN (SELECT id FROM job WHERE state = 'ready' ORDER BY id LIMIT :n)
RETURNING id, payload, attempt AS token;

-- name: claim [postgres]
UPDATE job SET state = 'taken', attempt = attempt + 1, taken_at = clock_timestamp()
WHERE id = ANY (ARRAY (SELECT id FROM job WHERE state = 'ready' ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED))
RETURNING id, payload, attempt AS token;

-- name: complete
UPDATE job SET state = 'done' WHERE id = :id AND state = 'taken' AND attempt = :token;

-- name: free
UPDATE job SET state = 'ready' WHERE id = :id AND state = 'taken' AND attempt = :token;

-- name: recover [sqlite] when after=lost
UPDATE job SET state = 'lost' WHERE state = 'taken' AND taken_at < julianday('now') - :stuck_after_ms / 86400000.0;

-- name: recover [sqlite] when after=again
UPDATE job SET state = 'ready' WHERE state = 'taken' AND taken_at < julianday('now') - :stuck_after_ms / 86400000.0;

-- name: recover [postgres] when after=lost
UPDATE job SET state = 'lost'
WHERE state = 'taken' AND taken_at < clock_timestamp() - :stuck_after_ms * interval '1 millisecond';

-- name: recover [postgres] when after=again
UPDATE job SET state = 'ready'
WHERE state = 'taken' AND taken_at < clock_timestamp() - :stuck_after_ms * interval '1 millisecond';

-- name: teardown
DROP TABLE job;
