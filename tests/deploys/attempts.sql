-- strategy: attempts
-- shape: queue
-- claims: no-duplicate, no-loss, attempts
-- option: most = 3 (attempts of a job; then it is a dead letter)
-- option: counted = at-claim | at-end | never
-- option: claim_ms = 30000
-- attempts: most
-- limit: claim_ms
-- summary: a job that fails too often is a dead letter; counted=at-end does not count workers that die

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload varchar(100), state varchar(10) NOT NULL DEFAULT 'ready',
                  attempts int NOT NULL DEFAULT 0, at_ms bigint);

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [sqlite] when counted=at-claim
UPDATE job SET state = 'taken', at_ms = :now, attempts = attempts + 1
WHERE id = (SELECT id FROM job WHERE state = 'ready' AND attempts < :most ORDER BY id LIMIT 1)
  AND state = 'ready' AND attempts < :most
RETURNING id, payload;

-- name: claim [sqlite] when counted=at-end|never
UPDATE job SET state = 'taken', at_ms = :now
WHERE id = (SELECT id FROM job WHERE state = 'ready' AND attempts < :most ORDER BY id LIMIT 1)
  AND state = 'ready' AND attempts < :most
RETURNING id, payload;

-- name: complete
UPDATE job SET state = 'done' WHERE id = :id AND state = 'taken';

-- name: free when counted=at-claim|never
UPDATE job SET state = 'ready' WHERE id = :id AND state = 'taken';

-- name: free when counted=at-end
UPDATE job SET state = 'ready', attempts = attempts + 1 WHERE id = :id AND state = 'taken';

-- name: recover
UPDATE job SET state = 'ready' WHERE state = 'taken' AND at_ms < :now - :claim_ms;

-- name: teardown
DROP TABLE job;
