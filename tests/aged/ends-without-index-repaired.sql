-- strategy: ends-without-index-repaired
-- shape: queue
-- claims: no-duplicate
-- summary: the foreign key has an index
-- Source: https://github.com/sourcegraph/sourcegraph-public-snapshot/pull/49804

-- name: setup [postgres]
CREATE TABLE job (
    id bigint PRIMARY KEY, payload text NOT NULL, status text NOT NULL DEFAULT 'new',
    run_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE attempt (job_id bigint NOT NULL REFERENCES job (id), ended int NOT NULL DEFAULT 0);
CREATE INDEX job_new ON job (status, run_at, id);
CREATE INDEX attempt_job ON attempt (job_id);

-- name: setup [sqlite,mariadb]
CREATE TABLE job (
    id bigint PRIMARY KEY, payload text NOT NULL, status varchar(10) NOT NULL DEFAULT 'new',
    run_at timestamp NOT NULL DEFAULT current_timestamp
);
CREATE TABLE attempt (job_id bigint NOT NULL REFERENCES job (id), ended int NOT NULL DEFAULT 0);
CREATE INDEX job_new ON job (status, run_at, id);
CREATE INDEX attempt_job ON attempt (job_id);

-- name: put tx=one
-- answer: row
INSERT INTO job (id, payload) VALUES (:id, :payload);
INSERT INTO attempt (job_id) VALUES (:id);

-- name: claim [postgres]
UPDATE job SET status = 'taken'
WHERE id = (SELECT id FROM job WHERE status = 'new' ORDER BY run_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload;

-- name: claim [sqlite]
UPDATE job SET status = 'taken'
WHERE id = (SELECT id FROM job WHERE status = 'new' ORDER BY run_at, id LIMIT 1)
RETURNING id, payload;

-- name: claim [mariadb] tx=one
-- answer: row
-- require: row
SELECT id, payload FROM job WHERE status = 'new' ORDER BY run_at, id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE job SET status = 'taken' WHERE id = :id;

-- name: complete tx=one
-- require: row
UPDATE attempt SET ended = 1 WHERE job_id = :id AND ended = 0;
UPDATE job SET status = 'done' WHERE id = :id AND status = 'taken';

-- name: error
UPDATE job SET status = 'failed' WHERE id = :id AND status = 'taken';

-- name: teardown
DROP TABLE attempt;
DROP TABLE job;
