-- Claims of several items, which are given back one by one. back=item names the item; back=worker gives back all that the
-- worker has. A common mechanism. Truth expected: item right; worker broken, as another takes what is still worked on:
-- no-duplicate. end=worker completes all that the worker has: broken, as the others are neither done nor claimable: no-loss.
--
-- strategy: handful
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release
-- option: back = item | worker
-- option: end = item | worker
-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload text, state int NOT NULL DEFAULT 0, worker varchar(80));
-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);
-- name: claim [sqlite]
UPDATE job SET state = 1, worker = :worker WHERE id IN (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT :n) RETURNING id, payload;
-- name: claim [postgres]
WITH c AS (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED)
UPDATE job SET state = 1, worker = :worker FROM c WHERE job.id = c.id RETURNING job.id, job.payload;
-- name: complete when end=item
UPDATE job SET state = 2 WHERE id = :id AND state = 1 AND worker = :worker;
-- name: complete when end=worker
UPDATE job SET state = 2 WHERE state = 1 AND worker = :worker;
-- name: free when back=item
UPDATE job SET state = 0, worker = NULL WHERE id = :id AND state = 1 AND worker = :worker;
-- name: free when back=worker
UPDATE job SET state = 0, worker = NULL WHERE state = 1 AND worker = :worker;
-- name: teardown
DROP TABLE job;
