-- Jobs that wait, and jobs that are taken, have a table each, after Solid Queue. free=leaves puts a job back among
-- those that wait, and leaves it among those that are taken: each claim of it is refused as a duplicate. Truth
-- expected: deletes right; leaves broken: no-loss.
--
-- strategy: two-tables
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release
-- option: free = deletes | leaves

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload varchar(100));
CREATE TABLE ready (job bigint PRIMARY KEY);
CREATE TABLE claimed (job bigint PRIMARY KEY, worker varchar(40) NOT NULL);

-- name: put tx=one begin=immediate
INSERT INTO job (id, payload) VALUES (:id, :payload);
INSERT INTO ready (job) VALUES (:id);

-- name: claim [sqlite] tx=one begin=immediate
-- require: row
SELECT min(job) AS pick FROM ready HAVING min(job) IS NOT NULL;
INSERT INTO claimed (job, worker) VALUES (:pick, :worker);
DELETE FROM ready WHERE job = :pick;
SELECT id, payload FROM job WHERE id = :pick;

-- name: claim [postgres, mariadb] tx=one
-- require: row
SELECT job AS pick FROM ready ORDER BY job LIMIT 1 FOR UPDATE SKIP LOCKED;
INSERT INTO claimed (job, worker) VALUES (:pick, :worker);
DELETE FROM ready WHERE job = :pick;
SELECT id, payload FROM job WHERE id = :pick;

-- name: complete
DELETE FROM claimed WHERE job = :id AND worker = :worker;

-- name: free tx=one begin=immediate when free=deletes
-- require: row
DELETE FROM claimed WHERE job = :id AND worker = :worker;
INSERT INTO ready (job) VALUES (:id);

-- name: free tx=one begin=immediate when free=leaves
-- require: row
SELECT 1 FROM claimed WHERE job = :id AND worker = :worker;
INSERT INTO ready (job) VALUES (:id);

-- name: teardown
DROP TABLE claimed;
DROP TABLE ready;
DROP TABLE job;
