-- A lease of thirty seconds that stands in the statements, as many have it: only moved clocks outlive it. Right with
-- release=owner; release=anyone ends the hold of the successor.
--
-- strategy: fixed-lease
-- shape: lock
-- claims: exclusive, owner-release, recovery
-- lease: fixed
-- option: release = owner | anyone

-- name: setup [sqlite]
CREATE TABLE held (name text PRIMARY KEY, owner text, until real NOT NULL DEFAULT 0);
-- name: setup [postgres]
CREATE TABLE held (name text PRIMARY KEY, owner text, taken_at timestamptz NOT NULL DEFAULT '-infinity');
-- name: setup [mariadb]
CREATE TABLE held (name varchar(64) PRIMARY KEY, owner varchar(64), until datetime(6) NOT NULL DEFAULT '2000-01-01');

-- name: resource
INSERT INTO held (name) VALUES (:resource);

-- name: acquire [sqlite]
UPDATE held SET owner = :worker, until = (julianday('now') - 2440587.5) * 86400.0 + 30
WHERE name = :resource AND until <= (julianday('now') - 2440587.5) * 86400.0;
-- name: acquire [postgres]
UPDATE held SET owner = :worker, taken_at = clock_timestamp()
WHERE name = :resource AND (owner IS NULL OR clock_timestamp() - taken_at > interval '30 s');
-- name: acquire [mariadb]
UPDATE held SET owner = :worker, until = NOW(6) + INTERVAL 30 SECOND
WHERE name = :resource AND until <= NOW(6);

-- name: release [sqlite] when release=owner
UPDATE held SET owner = NULL, until = 0 WHERE name = :resource AND owner = :worker;
-- name: release [sqlite] when release=anyone
UPDATE held SET owner = NULL, until = 0 WHERE name = :resource;
-- name: release [postgres] when release=owner
UPDATE held SET owner = NULL WHERE name = :resource AND owner = :worker;
-- name: release [postgres] when release=anyone
UPDATE held SET owner = NULL WHERE name = :resource;
-- name: release [mariadb] when release=owner
UPDATE held SET owner = NULL, until = '2000-01-01' WHERE name = :resource AND owner = :worker;
-- name: release [mariadb] when release=anyone
UPDATE held SET owner = NULL, until = '2000-01-01' WHERE name = :resource;

-- name: teardown
DROP TABLE held;
