-- strategy: xagent-repaired
-- shape: queue
-- claims: no-duplicate, no-loss, recovery
-- option: stale_ms = 60000
-- limit: stale_ms
-- summary: a job is stale if its last sign of life is old
-- origin: https://github.com/xorbitsai/xagent/issues/1565

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload varchar(100), status varchar(12) NOT NULL DEFAULT 'pending',
                  claims int NOT NULL DEFAULT 0, started_ms bigint, updated_ms bigint);

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim
UPDATE job SET status = 'running', claims = claims + 1, started_ms = :now, updated_ms = :now
WHERE id = (SELECT id FROM job WHERE status = 'pending' ORDER BY id LIMIT 1) AND status = 'pending'
RETURNING id, payload, claims AS token;

-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'running' AND claims = :token;

-- name: renew
UPDATE job SET updated_ms = :now WHERE id = :id AND status = 'running' AND claims = :token;

-- name: recover
UPDATE job SET status = 'pending' WHERE status = 'running' AND updated_ms < :now - :stale_ms;

-- name: teardown
DROP TABLE job;
