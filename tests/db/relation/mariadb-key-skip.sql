-- mariadb 2 1 SELECT id, coalesce(owner, '-') FROM item ORDER BY id
-- every step
-- An UPDATE in vain locks one key, and the other worker takes only the key behind it.
-- strategy: mariadb-key-skip
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE role (name varchar(20) PRIMARY KEY, last int NOT NULL, kind int NOT NULL);
INSERT INTO role VALUES ('w0', 1, 5), ('w1', 2, 0);
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL, owner varchar(20));
INSERT INTO item (id, status) VALUES (1, 0), (2, 0);
-- name: acquire
SELECT last, kind FROM role WHERE name = :worker;
-- name: release
UPDATE (
    SELECT DISTINCT id FROM item FORCE INDEX (PRIMARY) WHERE id IN (1, :last) AND status = :kind
    FOR UPDATE skip /* and do not wait */
    locked) AS free_item
STRAIGHT_JOIN item USING (id)
SET item.owner = :worker;
-- name: teardown
DROP TABLE role, item;
