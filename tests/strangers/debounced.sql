-- A job's key is free as soon as the job is claimed, and unique in its kind alone. index=unfinished keeps the key
-- until the end. Truth expected: waiting right; unfinished broken: unique.
--
-- strategy: debounced
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release, unique
-- option: index = waiting | unfinished
-- unique: until-claimed

-- name: setup when index=waiting
CREATE TABLE job (id bigint PRIMARY KEY, kind varchar(40) NOT NULL, payload varchar(100), ukey varchar(40) NOT NULL,
                  state varchar(10) NOT NULL DEFAULT 'pending', owner varchar(40));
CREATE UNIQUE INDEX job_key ON job (kind, ukey) WHERE state = 'pending';

-- name: setup when index=unfinished
CREATE TABLE job (id bigint PRIMARY KEY, kind varchar(40) NOT NULL, payload varchar(100), ukey varchar(40) NOT NULL,
                  state varchar(10) NOT NULL DEFAULT 'pending', owner varchar(40));
CREATE UNIQUE INDEX job_key ON job (kind, ukey) WHERE state IN ('pending', 'active');

-- name: put
INSERT INTO job (id, kind, payload, ukey) VALUES (:id, :class, :payload, :unique_key) ON CONFLICT DO NOTHING;

-- name: claim [sqlite]
UPDATE job SET state = 'active', owner = :worker
WHERE id = (SELECT id FROM job WHERE kind = :class AND state = 'pending' ORDER BY id LIMIT 1)
RETURNING id, payload;

-- name: claim [postgres]
UPDATE job SET state = 'active', owner = :worker
WHERE id = (SELECT id FROM job WHERE kind = :class AND state = 'pending' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload;

-- name: complete
UPDATE job SET state = 'completed' WHERE id = :id AND state = 'active' AND owner = :worker;

-- name: teardown
DROP TABLE job;
