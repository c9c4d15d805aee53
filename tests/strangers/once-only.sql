-- A job is there once: a put of its key adds nothing while a job of that key is not done. put=index lets a unique
-- index say so; put=looked looks first, and inserts then; put=locked does so under a lock of the key's hash, as River
-- did before it had an index (river #446: right, and slow); put=believed (PostgreSQL) takes another's lock of the
-- key for another's job. After oban #1087 and #1093. Truth expected: index and locked right; looked broken: unique;
-- believed broken: unique.
--
-- strategy: once-only
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release, unique
-- option: put = index | looked | locked | believed
-- unique: until-done

-- name: setup when put=index
CREATE TABLE job (id bigint PRIMARY KEY, once varchar(20) NOT NULL, status varchar(10) NOT NULL DEFAULT 'todo',
                  attempt int NOT NULL DEFAULT 0, payload varchar(100));
CREATE UNIQUE INDEX job_once ON job (once) WHERE status <> 'done';

-- name: setup when put!=index
CREATE TABLE job (id bigint PRIMARY KEY, once varchar(20) NOT NULL, status varchar(10) NOT NULL DEFAULT 'todo',
                  attempt int NOT NULL DEFAULT 0, payload varchar(100));

-- name: put when put=index
INSERT INTO job (id, once, payload) VALUES (:id, :unique_key, :payload) ON CONFLICT DO NOTHING;

-- name: put when put=looked
-- require: row
SELECT 1 AS free WHERE NOT EXISTS (SELECT 1 FROM job WHERE once = :unique_key AND status <> 'done');
INSERT INTO job (id, once, payload) VALUES (:id, :unique_key, :payload);

-- name: put [sqlite] tx=one begin=immediate when put=locked
-- require: row
SELECT 1 AS free WHERE NOT EXISTS (SELECT 1 FROM job WHERE once = :unique_key AND status <> 'done');
INSERT INTO job (id, once, payload) VALUES (:id, :unique_key, :payload);

-- name: put [postgres] tx=one when put=locked
SELECT 1 AS locked FROM pg_advisory_xact_lock(hashtext(:unique_key));
-- require: row
SELECT 1 AS free WHERE NOT EXISTS (SELECT 1 FROM job WHERE once = :unique_key AND status <> 'done');
INSERT INTO job (id, once, payload) VALUES (:id, :unique_key, :payload);

-- name: put [postgres] tx=one when put=believed
-- require: row
SELECT 1 AS free WHERE pg_try_advisory_xact_lock(hashtext(:unique_key));
INSERT INTO job (id, once, payload) SELECT :id, :unique_key, :payload
WHERE NOT EXISTS (SELECT 1 FROM job WHERE once = :unique_key AND status <> 'done');

-- name: claim [sqlite]
UPDATE job SET status = 'doing', attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY id LIMIT 1)
RETURNING id, payload, attempt AS token;

-- name: claim [postgres]
UPDATE job SET status = 'doing', attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload, attempt AS token;

-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'doing' AND attempt = :token;

-- name: teardown
DROP TABLE job;
