-- strategy: counts-all
-- shape: queue
-- claims: no-duplicate
-- summary: the claim counts the jobs in hand, and reads all jobs for it
-- Source: https://github.com/timgit/pg-boss/issues/274

-- name: setup [postgres]
CREATE TABLE job (
    id bigint PRIMARY KEY, payload text NOT NULL, status text NOT NULL DEFAULT 'new',
    run_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX job_new ON job (status, id);

-- name: setup [sqlite,mariadb]
CREATE TABLE job (
    id bigint PRIMARY KEY, payload text NOT NULL, status varchar(10) NOT NULL DEFAULT 'new',
    run_at timestamp NOT NULL DEFAULT current_timestamp
);
CREATE INDEX job_new ON job (status, id);

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [postgres]
UPDATE job SET status = 'taken'
WHERE id = (SELECT id FROM job WHERE status = 'new'
  AND (SELECT count(*) FROM job WHERE status NOT IN ('new', 'done', 'failed')) < 100 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload;

-- name: claim [sqlite]
UPDATE job SET status = 'taken'
WHERE id = (SELECT id FROM job WHERE status = 'new'
  AND (SELECT count(*) FROM job WHERE status NOT IN ('new', 'done', 'failed')) < 100 ORDER BY id LIMIT 1)
RETURNING id, payload;

-- name: claim [mariadb] tx=one
-- answer: row
-- require: row
SELECT id, payload FROM job WHERE status = 'new'
  AND (SELECT count(*) FROM job WHERE status NOT IN ('new', 'done', 'failed')) < 100 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE job SET status = 'taken' WHERE id = :id;

-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'taken';

-- name: error
UPDATE job SET status = 'failed' WHERE id = :id AND status = 'taken';

-- name: teardown
DROP TABLE job;
