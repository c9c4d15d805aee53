-- strategy: attempts
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release, progress, recovery, attempts
-- option: most = 3 (attempts of a job; then it is a dead letter)
-- option: counted = at-claim | at-end | never
-- option: recovered = kept | reset
-- option: head = passed | awaited
-- option: claim_ms = 30000
-- attempts: most
-- limit: claim_ms
-- summary: a job that fails too often is a dead letter; counted=at-end does not count workers that die

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload varchar(100), state varchar(10) NOT NULL DEFAULT 'ready',
                  attempts int NOT NULL DEFAULT 0, claims int NOT NULL DEFAULT 0, at_ms bigint);

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [sqlite] when counted=at-claim head=passed
UPDATE job SET state = 'taken', at_ms = :now, claims = claims + 1, attempts = attempts + 1
WHERE id = (SELECT id FROM job WHERE state = 'ready' AND attempts < :most ORDER BY id LIMIT 1)
  AND state = 'ready' AND attempts < :most
RETURNING id, payload, claims AS token;

-- name: claim [sqlite] when counted=at-end|never head=passed
UPDATE job SET state = 'taken', at_ms = :now, claims = claims + 1
WHERE id = (SELECT id FROM job WHERE state = 'ready' AND attempts < :most ORDER BY id LIMIT 1)
  AND state = 'ready' AND attempts < :most
RETURNING id, payload, claims AS token;

-- The first job that is not done must be done first.
-- name: claim [sqlite] when head=awaited
UPDATE job SET state = 'taken', at_ms = :now, claims = claims + 1
WHERE id = (SELECT id FROM job WHERE state IN ('ready', 'taken') AND attempts < :most ORDER BY id LIMIT 1)
  AND state = 'ready' AND attempts < :most
RETURNING id, payload, claims AS token;

-- name: claim [postgres] when counted=at-claim head=passed
UPDATE job SET state = 'taken', at_ms = :now, claims = claims + 1, attempts = attempts + 1
WHERE id = (SELECT id FROM job WHERE state = 'ready' AND attempts < :most ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload, claims AS token;

-- name: claim [postgres] when counted=at-end|never head=passed
UPDATE job SET state = 'taken', at_ms = :now, claims = claims + 1
WHERE id = (SELECT id FROM job WHERE state = 'ready' AND attempts < :most ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload, claims AS token;

-- name: complete
UPDATE job SET state = 'done' WHERE id = :id AND state = 'taken' AND claims = :token;

-- name: free when counted=at-claim|never
UPDATE job SET state = 'ready' WHERE id = :id AND state = 'taken' AND claims = :token;

-- name: free when counted=at-end
UPDATE job SET state = 'ready', attempts = attempts + 1 WHERE id = :id AND state = 'taken' AND claims = :token;

-- name: recover when recovered=kept
UPDATE job SET state = 'ready' WHERE state = 'taken' AND at_ms < :now - :claim_ms;

-- name: recover when recovered=reset
UPDATE job SET state = 'ready', attempts = 0 WHERE state = 'taken' AND at_ms < :now - :claim_ms;

-- name: teardown
DROP TABLE job;
