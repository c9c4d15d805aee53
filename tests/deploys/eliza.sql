-- strategy: eliza
-- shape: queue
-- claims: no-duplicate, no-loss, recovery, attempts
-- option: max_attempts = 2
-- option: stale_ms = 60000
-- attempts: max_attempts
-- limit: stale_ms
-- summary: each job has its maximum of attempts, and the recovery has one of its own
-- origin: https://github.com/elizaOS/eliza/issues/10854

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload varchar(100), status varchar(12) NOT NULL DEFAULT 'pending',
                  max_attempts int NOT NULL, attempts int NOT NULL DEFAULT 0, claims int NOT NULL DEFAULT 0, at_ms bigint);

-- name: put
INSERT INTO job (id, payload, max_attempts) VALUES (:id, :payload, :max_attempts);

-- name: claim
UPDATE job SET status = 'running', at_ms = :now, claims = claims + 1, attempts = attempts + 1
WHERE id = (SELECT id FROM job WHERE status = 'pending' ORDER BY id LIMIT 1) AND status = 'pending'
RETURNING id, payload, claims AS token;

-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'running' AND claims = :token;

-- name: free
UPDATE job SET status = CASE WHEN attempts < max_attempts THEN 'pending' ELSE 'dead' END
WHERE id = :id AND status = 'running' AND claims = :token;

-- name: recover
UPDATE job SET status = CASE WHEN attempts < 3 THEN 'pending' ELSE 'dead' END
WHERE status = 'running' AND at_ms < :now - :stale_ms;

-- name: teardown
DROP TABLE job;
