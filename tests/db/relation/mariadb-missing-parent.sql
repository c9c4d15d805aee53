-- mariadb 2 1 SELECT id, coalesce(parent, 0) FROM item ORDER BY id
-- every step
-- A row without its parent is not inserted, and the gap that it was looked for in stays locked.
-- strategy: mariadb-missing-parent
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE role (name varchar(20) PRIMARY KEY, id int NOT NULL, parent int);
INSERT INTO role VALUES ('w0', 5, 3), ('w1', 3, NULL);
CREATE TABLE item (id int PRIMARY KEY, parent int, FOREIGN KEY (parent) REFERENCES item (id));
-- name: acquire
SELECT id, parent FROM role WHERE name = :worker;
-- name: release
INSERT IGNORE INTO item (id, parent) VALUES (:id, :parent);
-- name: teardown
DROP TABLE role, item;
