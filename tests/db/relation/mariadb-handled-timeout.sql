-- mariadb 2 2 SELECT owner, what FROM seen ORDER BY owner
-- every step
-- A procedure does not wait for an UPDATE in vain of the same key, and notes that it was refused.
-- strategy: mariadb-handled-timeout
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0);
CREATE TABLE seen (owner varchar(20) NOT NULL, what varchar(20) NOT NULL);
CREATE PROCEDURE take (who varchar(20))
BEGIN
    DECLARE CONTINUE HANDLER FOR 1205 INSERT INTO seen VALUES (who, 'refused');
    SET STATEMENT innodb_lock_wait_timeout = 0 FOR
    UPDATE item SET status = status + 1 WHERE id = 1 AND (status = 5 OR who = 'w1');
    SELECT substring(who, 2) + 1 AS id;
END;
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim tx=hold
CALL take(:worker);
-- name: complete
-- name: teardown
DROP PROCEDURE take;
DROP TABLE item, seen;
