-- strategy: claimed
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release
-- option: claim_ms = 30000
-- limit: claim_ms
-- summary: a claim writes its time, and recover reads the deadline, which both versions write

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload varchar(100), state varchar(10) NOT NULL DEFAULT 'ready',
                  claims int NOT NULL DEFAULT 0, deadline_ms bigint, claimed_ms bigint);

-- name: migrate
ALTER TABLE job ADD COLUMN claimed_ms bigint;

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE job SET state = 'taken', claims = claims + 1, claimed_ms = :now, deadline_ms = :now + :claim_ms
WHERE id = (SELECT id FROM job WHERE state = 'ready' ORDER BY id LIMIT 1) AND state = 'ready'
RETURNING id, payload, claims AS token;

-- name: claim [postgres]
UPDATE job SET state = 'taken', claims = claims + 1, claimed_ms = :now, deadline_ms = :now + :claim_ms
WHERE id = (SELECT id FROM job WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload, claims AS token;

-- name: claim [mariadb] tx=one
-- require: row
-- answer: row
SELECT id, payload, claims + 1 AS token FROM job WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE job SET state = 'taken', claims = :token, claimed_ms = :now, deadline_ms = :now + :claim_ms WHERE id = :id;

-- name: complete
UPDATE job SET state = 'done' WHERE id = :id AND state = 'taken' AND claims = :token;

-- name: free
UPDATE job SET state = 'ready' WHERE id = :id AND state = 'taken' AND claims = :token;

-- name: recover
UPDATE job SET state = 'ready' WHERE state = 'taken' AND deadline_ms <= :now;

-- name: teardown
DROP TABLE job;
