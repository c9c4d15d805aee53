-- strategy: joins-all
-- shape: queue
-- claims: no-duplicate
-- summary: finished jobs are in a second table, and the claim looks up every job there

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload varchar(100) NOT NULL);
CREATE TABLE claimed (id bigint PRIMARY KEY);
CREATE TABLE done (id bigint PRIMARY KEY);

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim tx=one
-- answer: row
-- require: row
SELECT id, payload FROM job
WHERE NOT EXISTS (SELECT 1 FROM claimed WHERE claimed.id = job.id)
  AND NOT EXISTS (SELECT 1 FROM done WHERE done.id = job.id)
ORDER BY id LIMIT 1;
INSERT INTO claimed (id) VALUES (:id);

-- name: complete tx=one
-- require: row
DELETE FROM claimed WHERE id = :id;
INSERT INTO done (id) VALUES (:id);

-- name: teardown
DROP TABLE job;
DROP TABLE claimed;
DROP TABLE done;
