-- A row is the lock, and stays when its holder dies: an operator's job frees what is held for too long. stamp=held goes
-- by when the hold began; stamp=made by when the row was made, so that the job frees what was taken a moment ago.
-- After the locks of knex and Liquibase, and the jobs that people write beside them. Truth expected: held right; made
-- broken: exclusive.
--
-- strategy: operator
-- shape: lock
-- claims: exclusive, owner-release, recovery
-- option: longest_ms = 600000
-- option: stamp = held | made
-- limit: longest_ms

-- name: setup
CREATE TABLE migration_lock (name varchar(60) PRIMARY KEY, owner varchar(60), made_ms bigint NOT NULL, since_ms bigint);

-- name: resource
INSERT INTO migration_lock (name, made_ms) VALUES (:resource, :now);

-- name: acquire
UPDATE migration_lock SET owner = :worker, since_ms = :now WHERE name = :resource AND owner IS NULL;

-- name: release
UPDATE migration_lock SET owner = NULL WHERE name = :resource AND owner = :worker;

-- name: recover when stamp=held
UPDATE migration_lock SET owner = NULL WHERE owner IS NOT NULL AND since_ms < :now - :longest_ms;

-- name: recover when stamp=made
UPDATE migration_lock SET owner = NULL WHERE owner IS NOT NULL AND made_ms < :now - :longest_ms;

-- name: teardown
DROP TABLE migration_lock;
