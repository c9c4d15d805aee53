-- strategy: sidequest
-- shape: queue
-- claims: no-duplicate, no-loss, recovery
-- option: stale_ms = 60000
-- limit: stale_ms
-- summary: the recovery reads a stale job, and then writes its row without a condition
-- origin: https://github.com/sidequestjs/sidequest/issues/208

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload varchar(100), status varchar(12) NOT NULL DEFAULT 'pending',
                  claims int NOT NULL DEFAULT 0, started_ms bigint, updated_ms bigint);

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim
UPDATE job SET status = 'running', claims = claims + 1, started_ms = :now
WHERE id = (SELECT id FROM job WHERE status = 'pending' ORDER BY id LIMIT 1) AND status = 'pending'
RETURNING id, payload, claims AS token;

-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'running' AND claims = :token;

-- name: recover
-- require: row
SELECT id, claims FROM job WHERE status = 'running' AND started_ms < :now - :stale_ms ORDER BY id LIMIT 1;
UPDATE job SET status = 'pending' WHERE id = :id;

-- name: teardown
DROP TABLE job;
