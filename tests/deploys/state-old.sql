-- strategy: jobs
-- shape: queue
-- claims: no-duplicate, no-loss
-- summary: a job in hand has another state

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, state varchar(10) NOT NULL DEFAULT 'ready', payload varchar(100));

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE job SET state = 'taken'
WHERE id = (SELECT id FROM job WHERE state = 'ready' ORDER BY id LIMIT 1) AND state = 'ready'
RETURNING id, payload;

-- name: claim [postgres,mariadb] tx=one
-- require: row
-- answer: row
SELECT id, payload FROM job WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE;
UPDATE job SET state = 'taken' WHERE id = :id;

-- name: complete
UPDATE job SET state = 'done' WHERE id = :id AND state = 'taken';

-- name: teardown
DROP TABLE job;
