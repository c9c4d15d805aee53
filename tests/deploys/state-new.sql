-- strategy: jobs
-- shape: queue
-- claims: no-duplicate, no-loss
-- summary: a job in hand has an owner; its state stays as it is, which the version before cannot know

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, state varchar(10) NOT NULL DEFAULT 'ready', payload varchar(100),
                  owner varchar(40));

-- name: migrate
ALTER TABLE job ADD COLUMN owner varchar(40);

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE job SET owner = :worker
WHERE id = (SELECT id FROM job WHERE state = 'ready' AND owner IS NULL ORDER BY id LIMIT 1)
  AND state = 'ready' AND owner IS NULL
RETURNING id, payload;

-- name: claim [postgres,mariadb] tx=one
-- require: row
-- answer: row
SELECT id, payload FROM job WHERE state = 'ready' AND owner IS NULL ORDER BY id LIMIT 1 FOR UPDATE;
UPDATE job SET owner = :worker WHERE id = :id;

-- name: complete
UPDATE job SET state = 'done' WHERE id = :id AND owner = :worker AND state = 'ready';

-- name: teardown
DROP TABLE job;
