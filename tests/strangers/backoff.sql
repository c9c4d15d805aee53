-- A failed item is tried again later. Right where it is due after an option's time, or after more and more with each
-- attempt; back=lost leaves it where no claim looks.
--
-- strategy: backoff
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release
-- option: backoff_s = 30 (the wait before the next attempt)
-- option: back = option | attempts | lost

-- name: setup [sqlite]
CREATE TABLE job (id integer PRIMARY KEY, payload text, state text NOT NULL DEFAULT 'new',
                  attempt integer NOT NULL DEFAULT 0, run_at real NOT NULL DEFAULT 0);
-- name: setup [postgres]
CREATE TABLE job (id bigint PRIMARY KEY, payload text, state text NOT NULL DEFAULT 'new',
                  attempt int NOT NULL DEFAULT 0, run_at timestamptz NOT NULL DEFAULT now());

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE job SET state = 'busy', attempt = attempt + 1
WHERE id IN (SELECT id FROM job WHERE state = 'new' AND run_at <= unixepoch() ORDER BY id LIMIT :n)
RETURNING id, payload, attempt AS token;
-- name: claim [postgres]
UPDATE job SET state = 'busy', attempt = attempt + 1
WHERE id IN (SELECT id FROM job WHERE state = 'new' AND run_at <= clock_timestamp()
             ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED)
RETURNING id, payload, attempt AS token;

-- name: complete
DELETE FROM job WHERE id = :id AND state = 'busy' AND attempt = :token;

-- name: free [sqlite] when back=option
UPDATE job SET state = 'new', run_at = unixepoch() + :backoff_s
WHERE id = :id AND state = 'busy' AND attempt = :token;
-- name: free [postgres] when back=option
UPDATE job SET state = 'new', run_at = clock_timestamp() + :backoff_s * interval '1 second'
WHERE id = :id AND state = 'busy' AND attempt = :token;
-- name: free [sqlite] when back=attempts
UPDATE job SET state = 'new', run_at = unixepoch() + 15 * attempt
WHERE id = :id AND state = 'busy' AND attempt = :token;
-- name: free [postgres] when back=attempts
UPDATE job SET state = 'new', run_at = clock_timestamp() + power(4, attempt) * interval '1 second'
WHERE id = :id AND state = 'busy' AND attempt = :token;
-- name: free [sqlite] when back=lost
UPDATE job SET state = 'waits', run_at = unixepoch() + :backoff_s
WHERE id = :id AND state = 'busy' AND attempt = :token;
-- name: free [postgres] when back=lost
UPDATE job SET state = 'waits', run_at = clock_timestamp() + :backoff_s * interval '1 second'
WHERE id = :id AND state = 'busy' AND attempt = :token;

-- name: teardown
DROP TABLE job;
