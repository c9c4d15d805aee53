-- A job's unique key is a row of its own, which goes with the job's end. error=keeps forgets it where the job
-- fails. Truth expected: frees right; keeps broken: unique.
--
-- strategy: reserved
-- shape: queue
-- claims: no-duplicate, owner-release, unique
-- option: error = frees | keeps
-- unique: until-done

-- name: setup
CREATE TABLE reservation (ukey varchar(40) PRIMARY KEY, job bigint NOT NULL);
CREATE TABLE job (id bigint PRIMARY KEY, payload varchar(100), state varchar(10) NOT NULL DEFAULT 'queued',
                  owner varchar(40));

-- name: put tx=one begin=immediate
-- require: row
INSERT INTO reservation (ukey, job) VALUES (:unique_key, :id) ON CONFLICT DO NOTHING;
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim
UPDATE job SET state = 'working', owner = :worker
WHERE id = (SELECT id FROM job WHERE state = 'queued' ORDER BY id LIMIT 1)
RETURNING id, payload;

-- name: complete tx=one begin=immediate
-- require: row
UPDATE job SET state = 'done' WHERE id = :id AND state = 'working' AND owner = :worker;
DELETE FROM reservation WHERE job = :id;

-- name: error tx=one begin=immediate when error=frees
-- require: row
UPDATE job SET state = 'failed' WHERE id = :id AND state = 'working' AND owner = :worker;
DELETE FROM reservation WHERE job = :id;

-- name: error when error=keeps
UPDATE job SET state = 'failed' WHERE id = :id AND state = 'working' AND owner = :worker;

-- name: teardown
DROP TABLE job;
DROP TABLE reservation;
