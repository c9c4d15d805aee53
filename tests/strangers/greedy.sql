-- A claim that marks more than requested. take=asked marks :n items: right. take=all marks all ready items.
-- Truth expected: asked right; all broken: bounded-claim.
--
-- strategy: greedy
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim
-- option: take = asked | all

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, body text, state int NOT NULL DEFAULT 0);

-- name: put
INSERT INTO job (id, body) VALUES (:id, :payload);

-- name: claim [sqlite] when take=asked
UPDATE job SET state = 1 WHERE id IN (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT :n)
RETURNING id, body AS payload;

-- name: claim [postgres] when take=asked
UPDATE job SET state = 1
WHERE id = ANY (ARRAY (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED))
RETURNING id, body AS payload;

-- name: claim when take=all
UPDATE job SET state = 1 WHERE state = 0 RETURNING id, body AS payload;

-- name: complete
UPDATE job SET state = 2 WHERE id = :id AND state = 1;

-- name: teardown
DROP TABLE job;
