-- strategy: migrate
-- shape: queue
-- claims: no-duplicate, no-loss
-- option: how = plain | bounded | concurrently | retyped | backfilled
-- summary: a column, or an index, is added while workers are at work

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, state varchar(10) NOT NULL DEFAULT 'ready', payload varchar(100));

-- Behind a transaction that has read the table, the statement waits, and all later ones wait behind it.
-- name: migrate when how=plain
ALTER TABLE job ADD COLUMN note varchar(40);

-- It gives up soon, and is tried again: others wait for no longer than that.
-- name: migrate [postgres] when how=bounded
SET lock_timeout = '20ms';
ALTER TABLE job ADD COLUMN note varchar(40);

-- name: migrate [mariadb] when how=bounded
ALTER TABLE job NOWAIT ADD COLUMN note varchar(40);

-- It waits for the transaction as well, but nothing waits for it.
-- name: migrate [postgres] when how=concurrently
CREATE INDEX CONCURRENTLY job_ready ON job (id) WHERE state = 'ready';

-- Sessions have planned their statements with the old type of an answer's column.
-- name: migrate [postgres] when how=retyped
ALTER TABLE job ALTER COLUMN payload TYPE varchar(200);

-- All rows get a value. Jobs in hand become ready by mistake, and are claimed once more.
-- name: migrate when how=backfilled
ALTER TABLE job ADD COLUMN note varchar(40);
UPDATE job SET note = '', state = 'ready' WHERE state <> 'done';

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE job SET state = 'taken'
WHERE id = (SELECT id FROM job WHERE state = 'ready' ORDER BY id LIMIT 1) AND state = 'ready'
RETURNING id, payload;

-- name: claim [postgres]
UPDATE job SET state = 'taken'
WHERE id = (SELECT id FROM job WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) AND state = 'ready'
RETURNING id, payload;

-- name: claim [mariadb] tx=one
-- require: row
-- answer: row
SELECT id, payload FROM job WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE job SET state = 'taken' WHERE id = :id;

-- name: complete
UPDATE job SET state = 'done' WHERE id = :id AND state = 'taken';

-- name: teardown
DROP TABLE job;
