-- mariadb 2 1 SELECT id, status, n FROM item ORDER BY id
-- every step
-- The lock of a session is given back before the commit of an UPDATE in vain: the next one waits for it
-- twice, for the lock and for the rows.
-- strategy: mariadb-get-lock
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE role (name varchar(20) PRIMARY KEY, kind int NOT NULL);
INSERT INTO role VALUES ('w0', 5), ('w1', 0);
CREATE TABLE item (id int NOT NULL, status int NOT NULL, n int NOT NULL DEFAULT 0);
INSERT INTO item (id, status) VALUES (1, 0), (2, 0);
-- name: acquire session=keep
SELECT GET_LOCK('relation', 10) AS granted, kind FROM role WHERE name = :worker;
-- name: release tx=one commit=always
UPDATE item SET status = status + 5, n = n + 1 WHERE status = :kind;
SELECT RELEASE_LOCK('relation');
-- name: teardown
DROP TABLE role, item;
