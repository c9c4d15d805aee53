-- strategy: named-lock
-- shape: lock
-- claims: exclusive, owner-release
-- rows: own
-- summary: a lock is a row, named by workspace and resource

-- name: setup
CREATE TABLE held (name varchar(80) PRIMARY KEY, owner varchar(40) NOT NULL);

-- name: acquire [sqlite,postgres]
INSERT INTO held (name, owner) VALUES ('w1:' || :resource, :worker) ON CONFLICT (name) DO NOTHING;

-- name: acquire [mariadb]
INSERT IGNORE INTO held (name, owner) VALUES (concat('w1:', :resource), :worker);

-- name: release [sqlite,postgres]
DELETE FROM held WHERE name = 'w1:' || :resource AND owner = :worker;

-- name: release [mariadb]
DELETE FROM held WHERE name = concat('w1:', :resource) AND owner = :worker;

-- name: teardown
DROP TABLE held;
