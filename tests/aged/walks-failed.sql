-- strategy: walks-failed
-- shape: queue
-- claims: no-duplicate
-- summary: failed jobs are kept, and stand in front of the others in the index
-- Source: https://github.com/collectiveidea/delayed_job/issues/202

-- name: setup [postgres]
CREATE TABLE job (
    id bigint PRIMARY KEY, payload text NOT NULL, status text NOT NULL DEFAULT 'new',
    priority int NOT NULL DEFAULT 0, failed_at timestamptz NULL, run_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX job_order ON job (status, priority, run_at, id);

-- name: setup [sqlite,mariadb]
CREATE TABLE job (
    id bigint PRIMARY KEY, payload text NOT NULL, status varchar(10) NOT NULL DEFAULT 'new',
    priority int NOT NULL DEFAULT 0, failed_at timestamp NULL, run_at timestamp NOT NULL DEFAULT current_timestamp
);
CREATE INDEX job_order ON job (status, priority, run_at, id);

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [postgres]
UPDATE job SET status = 'taken'
WHERE id = (SELECT id FROM job WHERE status = 'new' AND failed_at IS NULL ORDER BY priority, run_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload;

-- name: claim [sqlite]
UPDATE job SET status = 'taken'
WHERE id = (SELECT id FROM job WHERE status = 'new' AND failed_at IS NULL ORDER BY priority, run_at, id LIMIT 1)
RETURNING id, payload;

-- name: claim [mariadb] tx=one
-- answer: row
-- require: row
SELECT id, payload FROM job WHERE status = 'new' AND failed_at IS NULL ORDER BY priority, run_at, id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE job SET status = 'taken' WHERE id = :id;

-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'taken';

-- name: error
UPDATE job SET status = 'new', failed_at = current_timestamp WHERE id = :id AND status = 'taken';

-- name: teardown
DROP TABLE job;
