-- An error sets the token back, so that a late complete of an earlier claim takes effect.
-- strategy: token-restarts
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- lease: ttl_ms
-- name: setup
CREATE TABLE job (id INTEGER PRIMARY KEY, cls TEXT NOT NULL, payload TEXT, state TEXT NOT NULL DEFAULT 'ready', token INTEGER NOT NULL DEFAULT 0, until_ms INTEGER NOT NULL DEFAULT 0);
-- name: put
INSERT INTO job (id, cls, payload) VALUES (:id, :class, :payload);
-- name: claim
UPDATE job SET state = 'taken', token = token + 1, until_ms = :now + :ttl_ms
WHERE id = (SELECT id FROM job WHERE cls = :class AND (state = 'ready' OR (state = 'taken' AND until_ms <= :now)) ORDER BY id LIMIT 1)
RETURNING id, payload, token;
-- name: renew
UPDATE job SET until_ms = :now + :ttl_ms WHERE id = :id AND state = 'taken' AND token = :token;
-- name: complete
UPDATE job SET state = 'done' WHERE id = :id AND state = 'taken' AND token = :token;
-- name: free
UPDATE job SET state = 'ready' WHERE id = :id AND state = 'taken' AND token = :token;
-- name: error
UPDATE job SET state = 'failed', token = 0 WHERE id = :id AND state = 'taken' AND token = :token;
-- name: clear-error
UPDATE job SET state = 'ready' WHERE id = :id AND state = 'failed';
-- name: teardown
DROP TABLE job;
