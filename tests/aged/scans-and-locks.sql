-- strategy: scans-and-locks
-- shape: queue
-- claims: no-duplicate
-- summary: the claim waits for rows that it only scans: no index has the status
-- Source: https://github.com/laravel/framework/issues/31660

-- name: setup [postgres]
CREATE TABLE job (
    id bigint PRIMARY KEY, payload text NOT NULL, status text NOT NULL DEFAULT 'new',
    owner varchar(64), run_at timestamptz NOT NULL DEFAULT now()
);

-- name: setup [sqlite,mariadb]
CREATE TABLE job (
    id bigint PRIMARY KEY, payload text NOT NULL, status varchar(10) NOT NULL DEFAULT 'new',
    owner varchar(64), run_at timestamp NOT NULL DEFAULT current_timestamp
);

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [postgres]
UPDATE job SET status = 'taken'
WHERE id = (SELECT id FROM job WHERE status = 'new' AND owner IS NULL ORDER BY id LIMIT 1 FOR UPDATE)
RETURNING id, payload;

-- name: claim [sqlite]
UPDATE job SET status = 'taken'
WHERE id = (SELECT id FROM job WHERE status = 'new' AND owner IS NULL ORDER BY id LIMIT 1)
RETURNING id, payload;

-- name: claim [mariadb] tx=one
-- answer: row
-- require: row
SELECT id, payload FROM job WHERE status = 'new' AND owner IS NULL ORDER BY id LIMIT 1 FOR UPDATE;
UPDATE job SET status = 'taken' WHERE id = :id;

-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'taken';

-- name: error
UPDATE job SET status = 'failed' WHERE id = :id AND status = 'taken';

-- name: teardown
DROP TABLE job;
