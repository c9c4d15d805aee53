-- strategy: geolens-repaired
-- shape: queue
-- claims: no-duplicate, no-loss, recovery
-- option: stale_ms = 60000
-- limit: stale_ms
-- summary: the sweep for old jobs leaves those that wait in the queue
-- origin: https://github.com/geolens-io/geolens/pull/724

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload varchar(100), status varchar(12) NOT NULL DEFAULT 'pending',
                  claims int NOT NULL DEFAULT 0, started_ms bigint, created_ms bigint);

-- name: put
INSERT INTO job (id, payload, created_ms) VALUES (:id, :payload, :now);

-- name: claim
UPDATE job SET status = 'running', claims = claims + 1, started_ms = :now
WHERE id = (SELECT id FROM job WHERE status = 'pending' ORDER BY id LIMIT 1) AND status = 'pending'
RETURNING id, payload, claims AS token;

-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'running' AND claims = :token;

-- name: recover
UPDATE job SET status = 'pending' WHERE status = 'running' AND started_ms < :now - :stale_ms;

-- name: teardown
DROP TABLE job;
