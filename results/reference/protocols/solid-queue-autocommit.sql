-- Ready jobs and claimed jobs are rows of two tables: a claim locks a ready row, inserts the claimed one, deletes
-- the ready one. The end deletes the claimed row of its own process.
-- After Solid Queue's ready and claimed executions. The statements are ours: no code of the library was run, and no
-- version of it is claimed.
-- Expected: broken: each statement commits by itself. Two read the same ready row; the first claims, finishes and
-- deletes its claim, then the second one's insert finds no duplicate: no-duplicate.
--
-- strategy: solid-queue-autocommit
-- shape: queue
-- needs: skip_locked
-- claims: no-duplicate, no-loss, bounded-claim, owner-release

-- name: setup [postgres, mariadb]
CREATE TABLE jobs (id bigint PRIMARY KEY, queue varchar(64) NOT NULL, arguments text, finished int NOT NULL DEFAULT 0);
CREATE TABLE ready_executions (job_id bigint PRIMARY KEY, queue varchar(64) NOT NULL);
CREATE TABLE claimed_executions (job_id bigint PRIMARY KEY, process varchar(64) NOT NULL);
CREATE INDEX ready_poll ON ready_executions (queue, job_id);

-- name: put [postgres, mariadb] tx=one
INSERT INTO jobs (id, queue, arguments) VALUES (:id, :class, :payload);
INSERT INTO ready_executions (job_id, queue) VALUES (:id, :class);

-- name: claim [postgres, mariadb]
-- on-error: busy
-- require: row
SELECT job_id FROM ready_executions WHERE queue = :class ORDER BY job_id LIMIT 1 FOR UPDATE SKIP LOCKED;
INSERT INTO claimed_executions (job_id, process) VALUES (:job_id, :worker);
DELETE FROM ready_executions WHERE job_id = :job_id;
SELECT id, arguments AS payload FROM jobs WHERE id = :job_id;

-- name: complete [postgres, mariadb] tx=one
-- require: row
DELETE FROM claimed_executions WHERE job_id = :id AND process = :worker;
UPDATE jobs SET finished = 1 WHERE id = :id;

-- name: free [postgres, mariadb] tx=one
-- require: row
DELETE FROM claimed_executions WHERE job_id = :id AND process = :worker;
INSERT INTO ready_executions (job_id, queue) SELECT id, queue FROM jobs WHERE id = :id;

-- name: teardown [postgres, mariadb]
DROP TABLE claimed_executions;
DROP TABLE ready_executions;
DROP TABLE jobs;
