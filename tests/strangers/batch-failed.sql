-- Claims are batches with a number. One item of a batch fails: fail=one ends that item; fail=rest puts the others of the
-- batch back as well, though their worker goes on with them.
-- A common mechanism. Truth expected: one right; rest broken: they are claimed again meanwhile.
--
-- strategy: batch-failed
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim
-- option: fail = one | rest

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, class text, payload text, state text NOT NULL DEFAULT 'ready',
    batch bigint NOT NULL DEFAULT 0);

-- name: put
INSERT INTO job (id, class, payload) VALUES (:id, :class, :payload);

-- name: claim [sqlite]
UPDATE job SET state = 'taken', batch = (SELECT max(batch) + 1 FROM job)
WHERE id IN (SELECT id FROM job WHERE class = :class AND state = 'ready' ORDER BY id LIMIT :n)
RETURNING id, payload, batch AS token;

-- name: complete
UPDATE job SET state = 'done' WHERE id = :id AND state = 'taken' AND batch = :token;

-- name: error when fail=one
UPDATE job SET state = 'failed' WHERE id = :id AND state = 'taken' AND batch = :token;
-- name: error when fail=rest
UPDATE job SET state = CASE WHEN id = :id THEN 'failed' ELSE 'ready' END WHERE state = 'taken' AND batch = :token;

-- name: teardown
DROP TABLE job;
