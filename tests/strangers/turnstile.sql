-- A turnstile: its row is locked before the look inside. The level decides whether a worker that waited for
-- the row sees the one that came in meanwhile. Truth expected: broken: exclusive; right with read committed.
--
-- strategy: turnstile
-- shape: lock
-- claims: exclusive, owner-release
-- rows: own
-- isolation: repeatable read

-- name: setup [postgres]
CREATE TABLE turnstile (name varchar(64) PRIMARY KEY);
CREATE TABLE inside (no bigserial PRIMARY KEY, name varchar(64) NOT NULL, worker varchar(100) NOT NULL);

-- name: resource [postgres]
INSERT INTO turnstile (name) VALUES (:resource);

-- name: acquire [postgres] tx=one
-- require: row
SELECT name FROM turnstile WHERE name = :resource FOR UPDATE;
-- require: row
INSERT INTO inside (name, worker)
SELECT :resource::text, :worker::text WHERE NOT EXISTS (SELECT 1 FROM inside WHERE name = :resource)
RETURNING no AS place;

-- name: release [postgres]
DELETE FROM inside WHERE no = :place::bigint AND worker = :worker;

-- name: teardown [postgres]
DROP TABLE inside;
DROP TABLE turnstile;
