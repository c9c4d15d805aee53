-- strategy: sorts-all
-- shape: queue
-- claims: no-duplicate
-- summary: the claim sorts all jobs by a time that has no index
-- Source: https://github.com/timgit/pg-boss/issues/228

-- name: setup [postgres]
CREATE TABLE job (
    id bigint PRIMARY KEY, payload text NOT NULL, status text NOT NULL DEFAULT 'new',
    run_at timestamptz NOT NULL DEFAULT now()
);

-- name: setup [sqlite,mariadb]
CREATE TABLE job (
    id bigint PRIMARY KEY, payload text NOT NULL, status varchar(10) NOT NULL DEFAULT 'new',
    run_at timestamp NOT NULL DEFAULT current_timestamp
);

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [postgres]
UPDATE job SET status = 'taken'
WHERE id = (SELECT id FROM job WHERE status <> 'taken' AND status <> 'done' AND status <> 'failed' ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload;

-- name: claim [sqlite]
UPDATE job SET status = 'taken'
WHERE id = (SELECT id FROM job WHERE status <> 'taken' AND status <> 'done' AND status <> 'failed' ORDER BY run_at LIMIT 1)
RETURNING id, payload;

-- name: claim [mariadb] tx=one
-- answer: row
-- require: row
SELECT id, payload FROM job WHERE status <> 'taken' AND status <> 'done' AND status <> 'failed' ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE job SET status = 'taken' WHERE id = :id;

-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'taken';

-- name: error
UPDATE job SET status = 'failed' WHERE id = :id AND status = 'taken';

-- name: teardown
DROP TABLE job;
