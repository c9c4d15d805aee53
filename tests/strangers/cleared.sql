-- An operator has all failed items done again. clear=failed puts back failed items; clear=all puts back all
-- items without a worker; clear=taken all that are not done. A common mechanism. Truth expected: failed right; all
-- broken, as done items are done again; taken broken, as what a worker has is done twice: no-duplicate.
--
-- strategy: cleared
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim
-- option: clear = failed | all | taken

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, class text, payload text, state text NOT NULL DEFAULT 'ready');

-- name: put
INSERT INTO job (id, class, payload) VALUES (:id, :class, :payload);

-- name: claim [sqlite]
UPDATE job SET state = 'taken'
WHERE id = (SELECT id FROM job WHERE class = :class AND state = 'ready' ORDER BY id LIMIT 1)
RETURNING id, payload;
-- name: claim [postgres]
UPDATE job SET state = 'taken'
WHERE id = (SELECT id FROM job WHERE class = :class AND state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload;

-- name: complete
UPDATE job SET state = 'done' WHERE id = :id AND state = 'taken';

-- name: error
UPDATE job SET state = 'failed' WHERE id = :id AND state = 'taken';

-- name: clear-all-errors when clear=failed
UPDATE job SET state = 'ready' WHERE class = :class AND state = 'failed';
-- name: clear-all-errors when clear=all
UPDATE job SET state = 'ready' WHERE class = :class AND state <> 'taken';

-- name: clear-all-errors when clear=taken
UPDATE job SET state = 'ready' WHERE class = :class AND state <> 'done';

-- name: teardown
DROP TABLE job;
