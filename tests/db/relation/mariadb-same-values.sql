-- mariadb 2 1 SELECT id, status FROM item ORDER BY id
-- every step
-- An UPDATE to the values that are there changes no row, and yet locks what the other one skips.
-- strategy: mariadb-same-values
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE role (name varchar(20) PRIMARY KEY, kind int NOT NULL);
INSERT INTO role VALUES ('w0', 0), ('w1', 7);
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL);
INSERT INTO item VALUES (1, 0), (2, 0);
-- name: acquire
SELECT kind FROM role WHERE name = :worker;
-- name: release
UPDATE (SELECT DISTINCT id FROM item WHERE status = 0 FOR UPDATE SKIP LOCKED) AS free_item
STRAIGHT_JOIN item USING (id)
SET item.status = :kind;
-- name: teardown
DROP TABLE role, item;
