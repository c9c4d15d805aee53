-- strategy: stale-generic-plan
-- shape: queue
-- claims: no-duplicate
-- summary: after five executions the server plans for all times at once, and walks over jobs that are due later
-- Source: https://github.com/oban-bg/oban/issues/79

-- name: setup [postgres]
CREATE TABLE job (
    id bigint PRIMARY KEY, payload text NOT NULL, status text NOT NULL DEFAULT 'new',
    due bigint NOT NULL
);
CREATE INDEX job_due ON job (due, id);

-- name: setup [sqlite,mariadb]
CREATE TABLE job (
    id bigint PRIMARY KEY, payload text NOT NULL, status varchar(10) NOT NULL DEFAULT 'new',
    due bigint NOT NULL
);
CREATE INDEX job_due ON job (due, id);

-- name: put
INSERT INTO job (id, payload, due) VALUES (:id, :payload, :now);

-- name: claim [postgres]
UPDATE job SET status = 'taken'
WHERE id = (SELECT id FROM job WHERE status = 'new' AND due <= :now ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload;

-- name: claim [sqlite]
UPDATE job SET status = 'taken'
WHERE id = (SELECT id FROM job WHERE status = 'new' AND due <= :now ORDER BY id LIMIT 1)
RETURNING id, payload;

-- name: claim [mariadb] tx=one
-- answer: row
-- require: row
SELECT id, payload FROM job WHERE status = 'new' AND due <= :now ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE job SET status = 'taken' WHERE id = :id;

-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'taken';

-- name: error
UPDATE job SET status = 'failed' WHERE id = :id AND status = 'taken';

-- name: teardown
DROP TABLE job;
