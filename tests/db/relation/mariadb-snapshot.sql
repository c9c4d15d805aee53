-- mariadb 2 1 SELECT owner, id, n FROM seen ORDER BY owner, id
-- every step
-- A transaction counts the log in its snapshot, then locks rows in vain, which the other one skips.
-- strategy: mariadb-snapshot
-- shape: lock
-- claims: exclusive
-- isolation: repeatable read
-- name: setup
CREATE TABLE role (name varchar(20) PRIMARY KEY, kind int NOT NULL);
INSERT INTO role VALUES ('w0', 5), ('w1', 0);
CREATE TABLE item (id int NOT NULL, status int NOT NULL);
INSERT INTO item VALUES (1, 0), (2, 0);
CREATE TABLE seen (owner varchar(20) NOT NULL, id int NOT NULL, n int NOT NULL);
-- name: acquire tx=hold
SELECT kind, (SELECT count(*) FROM seen) AS n FROM role WHERE name = :worker;
-- name: release
INSERT INTO seen SELECT :worker, id, :n FROM item WHERE status = :kind FOR UPDATE SKIP LOCKED;
-- name: teardown
DROP TABLE role, item, seen;
