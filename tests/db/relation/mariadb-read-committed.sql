-- mariadb 2 1 SELECT id, n FROM item ORDER BY id
-- every step
-- At READ COMMITTED an UPDATE skips a row that does not fit, waits for one that is being changed, and
-- keeps no lock: an UPDATE in vain and a change of the same rows pass each other.
-- strategy: mariadb-read-committed
-- shape: lock
-- claims: exclusive
-- isolation: read committed
-- name: setup
CREATE TABLE role (name varchar(20) PRIMARY KEY, lowest int NOT NULL);
INSERT INTO role VALUES ('w0', 3), ('w1', 2);
CREATE TABLE item (id int NOT NULL, n int NOT NULL);
INSERT INTO item VALUES (1, 1), (2, 2);
-- name: acquire
SELECT lowest FROM role WHERE name = :worker;
-- name: release
UPDATE item SET n = 2 * n WHERE n >= :lowest;
-- name: teardown
DROP TABLE role, item;
