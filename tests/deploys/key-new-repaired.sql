-- strategy: named-lock
-- shape: lock
-- claims: exclusive, owner-release
-- rows: own
-- summary: takes both names, in one transaction, until no worker of the version before is left

-- name: setup
CREATE TABLE held (name varchar(80) PRIMARY KEY, owner varchar(40) NOT NULL);

-- name: acquire [sqlite,postgres] tx=one
-- require: row
INSERT INTO held (name, owner) VALUES ('w1:' || :resource, :worker) ON CONFLICT (name) DO NOTHING;
INSERT INTO held (name, owner) VALUES (:resource, :worker) ON CONFLICT (name) DO NOTHING;

-- name: acquire [mariadb] tx=one
-- require: row
INSERT IGNORE INTO held (name, owner) VALUES (concat('w1:', :resource), :worker);
INSERT IGNORE INTO held (name, owner) VALUES (:resource, :worker);

-- name: release [sqlite,postgres]
DELETE FROM held WHERE name IN (:resource, 'w1:' || :resource) AND owner = :worker;

-- name: release [mariadb]
DELETE FROM held WHERE name IN (:resource, concat('w1:', :resource)) AND owner = :worker;

-- name: teardown
DROP TABLE held;
