-- An operator has one failed item done again. clear=failed asks for the state; clear=number takes the item in any state.
-- Truth expected: failed right; number broken: no-duplicate.
--
-- strategy: clear-number
-- shape: queue
-- claims: no-duplicate, no-loss
-- option: clear = failed | number
-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload text, state int NOT NULL DEFAULT 0);
-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);
-- name: claim [sqlite]
UPDATE job SET state = 1 WHERE id = (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT 1) RETURNING id, payload;
-- name: claim [postgres]
UPDATE job SET state = 1 WHERE id = (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, payload;
-- name: complete
UPDATE job SET state = 2 WHERE id = :id AND state = 1;
-- name: error
UPDATE job SET state = 3 WHERE id = :id AND state = 1;
-- name: clear-error when clear=failed
UPDATE job SET state = 0 WHERE id = :id AND state = 3;
-- name: clear-error when clear=number
UPDATE job SET state = 0 WHERE id = :id;
-- name: teardown
DROP TABLE job;
