-- An operator puts done items back, beside workers; nothing fails. back=done takes done items, back=all takes all
-- items. A common mechanism. Truth expected: done right; all broken: an item in hand is done twice: no-duplicate.
--
-- strategy: reset
-- shape: queue
-- claims: no-duplicate, no-loss
-- option: back = done | all

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

-- name: reset-all when back=done
UPDATE job SET state = 'ready' WHERE class = :class AND state = 'done';
-- name: reset-all when back=all
UPDATE job SET state = 'ready' WHERE class = :class;

-- name: teardown
DROP TABLE job;
