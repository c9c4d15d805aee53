-- A worker that is asked to stop gives back what it has. stop=own asks for the worker; stop=all gives back what all have.
-- Truth expected: own right; all broken: no-duplicate.
--
-- strategy: stop-all
-- shape: queue
-- claims: no-duplicate
-- option: stop = own | all
-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload text, state int NOT NULL DEFAULT 0, worker varchar(80));
-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);
-- name: claim [sqlite]
UPDATE job SET state = 1, worker = :worker WHERE id = (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT 1) RETURNING id, payload;
-- name: claim [postgres]
UPDATE job SET state = 1, worker = :worker WHERE id = (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, payload;
-- name: complete
UPDATE job SET state = 2 WHERE id = :id AND state = 1 AND worker = :worker;
-- name: stop when stop=own
UPDATE job SET state = 0, worker = NULL WHERE worker = :worker AND state = 1;
-- name: stop when stop=all
UPDATE job SET state = 0, worker = NULL WHERE state = 1;
-- name: teardown
DROP TABLE job;
