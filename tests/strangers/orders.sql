-- A queue that promises its order. order=id takes the smallest number first: right. order=text sorts
-- numbers as texts, order=last takes the newest first.
-- Truth expected: id right; the others broken: fifo.
--
-- strategy: orders
-- shape: queue
-- claims: no-duplicate, no-loss, fifo
-- option: order = id | text | last

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, body text, state int NOT NULL DEFAULT 0);

-- name: put
INSERT INTO job (id, body) VALUES (:id, :payload);

-- name: claim [sqlite] when order=id
UPDATE job SET state = 1 WHERE id IN (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT 1)
RETURNING id, body AS payload;

-- name: claim [sqlite] when order=text
UPDATE job SET state = 1 WHERE id IN (SELECT id FROM job WHERE state = 0 ORDER BY CAST(id AS text) LIMIT 1)
RETURNING id, body AS payload;

-- name: claim [sqlite] when order=last
UPDATE job SET state = 1 WHERE id IN (SELECT id FROM job WHERE state = 0 ORDER BY id DESC LIMIT 1)
RETURNING id, body AS payload;

-- name: claim [postgres] when order=id
UPDATE job SET state = 1 WHERE id = (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, body AS payload;

-- name: claim [postgres] when order=text
UPDATE job SET state = 1 WHERE id = (SELECT id FROM job WHERE state = 0 ORDER BY id::text LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, body AS payload;

-- name: claim [postgres] when order=last
UPDATE job SET state = 1 WHERE id = (SELECT id FROM job WHERE state = 0 ORDER BY id DESC LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, body AS payload;

-- name: complete
UPDATE job SET state = 2 WHERE id = :id AND state = 1;

-- name: teardown
DROP TABLE job;
