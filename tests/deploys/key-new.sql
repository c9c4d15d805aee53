-- strategy: named-lock
-- shape: lock
-- claims: exclusive, owner-release
-- rows: own
-- summary: a lock is a row, named by the resource alone
-- origin: https://github.com/margince/margince/pull/2521: during a rolling deploy old and new workers locked different keys

-- name: setup
CREATE TABLE held (name varchar(80) PRIMARY KEY, owner varchar(40) NOT NULL);

-- name: acquire [sqlite,postgres]
INSERT INTO held (name, owner) VALUES (:resource, :worker) ON CONFLICT (name) DO NOTHING;

-- name: acquire [mariadb]
INSERT IGNORE INTO held (name, owner) VALUES (:resource, :worker);

-- name: release
DELETE FROM held WHERE name = :resource AND owner = :worker;

-- name: teardown
DROP TABLE held;
