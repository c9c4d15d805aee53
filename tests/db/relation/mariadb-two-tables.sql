-- mariadb 2 1 SELECT owner, id FROM seen UNION ALL SELECT owner, 0 FROM log ORDER BY 1, 2
-- every step
-- A transaction has written to the log, and ends with a copy in vain, whose rows the other skips.
-- strategy: mariadb-two-tables
-- shape: lock
-- claims: exclusive
-- isolation: repeatable read
-- name: setup
CREATE TABLE role (name varchar(20) PRIMARY KEY, kind int NOT NULL);
INSERT INTO role VALUES ('w0', 5), ('w1', 0);
CREATE TABLE item (id int NOT NULL, status int NOT NULL);
INSERT INTO item VALUES (1, 0), (2, 0);
CREATE TABLE log (owner varchar(20) NOT NULL);
CREATE TABLE seen (owner varchar(20) NOT NULL, id int NOT NULL);
-- name: acquire tx=hold
INSERT INTO log VALUES (:worker);
-- name: release
INSERT INTO seen
SELECT name, id FROM role STRAIGHT_JOIN item ON status = kind WHERE name = :worker FOR UPDATE SKIP LOCKED;
-- name: teardown
DROP TABLE role, item, log, seen;
