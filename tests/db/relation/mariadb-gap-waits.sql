-- mariadb 2 1 SELECT id, n FROM item ORDER BY id
-- every step
-- A copy in vain locks the gap behind the last row, and the other worker's copy into it waits.
-- strategy: mariadb-gap-waits
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE role (name varchar(20) PRIMARY KEY, lowest int NOT NULL);
INSERT INTO role VALUES ('w0', 5), ('w1', 1);
CREATE TABLE item (id int PRIMARY KEY, n int NOT NULL);
INSERT INTO item VALUES (1, 0), (2, 0);
-- name: acquire
SELECT lowest FROM role WHERE name = :worker;
-- name: release
INSERT INTO item (id, n) SELECT id + 10, n + 1 FROM item WHERE id >= :lowest RETURNING id, n;
-- name: teardown
DROP TABLE role, item;
