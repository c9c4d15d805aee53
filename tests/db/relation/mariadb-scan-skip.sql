-- mariadb 2 1 SELECT owner, id FROM seen ORDER BY owner, id
-- every step
-- A worker copies the rows that are free, and misses those that another one has scanned in vain.
-- strategy: mariadb-scan-skip
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE role (name varchar(20) PRIMARY KEY, kind int NOT NULL);
INSERT INTO role VALUES ('w0', 5), ('w1', 0);
CREATE TABLE item (id int NOT NULL, status int NOT NULL);
INSERT INTO item VALUES (1, 0), (2, 0);
CREATE TABLE seen (owner varchar(20) NOT NULL, id int NOT NULL);
-- name: acquire
SELECT kind FROM role WHERE name = :worker;
-- name: release
INSERT INTO seen (owner, id) SELECT :worker, id FROM item WHERE status = :kind FOR UPDATE SKIP LOCKED;
-- name: teardown
DROP TABLE role, item, seen;
