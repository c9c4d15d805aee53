-- Jobs of one lock are done one at a time: a job is taken if its lock is free. take=alone makes sure of
-- that with a unique index, which refuses the second of two statements that do not see each other.
-- take=looked only looks. take=any does not look either. After procrastinate's locks and graphile worker's
-- queue names. Truth expected: alone right; looked broken where two write at a time, any broken:
-- group-exclusive.
--
-- strategy: grouped
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, group-exclusive
-- option: take = alone | looked | any

-- name: setup [sqlite]
CREATE TABLE job (id integer PRIMARY KEY, lock text, status text NOT NULL DEFAULT 'todo',
                  attempt integer NOT NULL DEFAULT 0, worker text, payload text);

-- name: setup [postgres] when take=alone
CREATE TABLE job (id bigint PRIMARY KEY, lock text, status text NOT NULL DEFAULT 'todo',
                  attempt int NOT NULL DEFAULT 0, worker text, payload text);
CREATE UNIQUE INDEX job_one_of_a_lock ON job (lock) WHERE status = 'doing';

-- name: setup [postgres] when take!=alone
CREATE TABLE job (id bigint PRIMARY KEY, lock text, status text NOT NULL DEFAULT 'todo',
                  attempt int NOT NULL DEFAULT 0, worker text, payload text);

-- name: put
INSERT INTO job (id, lock, payload) VALUES (:id, :group, :payload);

-- name: claim [sqlite] when take!=any
UPDATE job SET status = 'doing', worker = :worker, attempt = attempt + 1
WHERE id = (SELECT id FROM job AS j
            WHERE status = 'todo'
              AND NOT EXISTS (SELECT 1 FROM job AS other WHERE other.status = 'doing' AND other.lock = j.lock)
            ORDER BY id LIMIT 1)
RETURNING id, payload, attempt AS token;

-- name: claim [postgres] when take!=any
-- on-error: busy
UPDATE job SET status = 'doing', worker = :worker, attempt = attempt + 1
WHERE id = (SELECT id FROM job AS j
            WHERE status = 'todo'
              AND NOT EXISTS (SELECT 1 FROM job AS other WHERE other.status = 'doing' AND other.lock = j.lock)
            ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload, attempt AS token;

-- name: claim [sqlite] when take=any
UPDATE job SET status = 'doing', worker = :worker, attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY id LIMIT 1)
RETURNING id, payload, attempt AS token;

-- name: claim [postgres] when take=any
UPDATE job SET status = 'doing', worker = :worker, attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload, attempt AS token;

-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'doing' AND attempt = :token;

-- name: teardown
DROP TABLE job;
