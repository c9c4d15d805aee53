-- mariadb 2 2 SELECT no, owner FROM log ORDER BY no
-- every step
-- A SELECT that changes nothing by its words draws a number and writes to the log: the other worker
-- counts the log between that and the commit.
-- strategy: mariadb-function-logs
-- shape: queue
-- claims: no-duplicate
-- isolation: read committed
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, owner varchar(20) NOT NULL);
CREATE TABLE log (no int PRIMARY KEY AUTO_INCREMENT, owner varchar(20) NOT NULL);
CREATE FUNCTION log_it (who varchar(20)) RETURNS int
BEGIN
    DECLARE n int;
    INSERT INTO log (owner) VALUES (who);
    SELECT count(*) INTO n FROM log;
    RETURN 10 * LAST_INSERT_ID() + n;
END;
-- name: put
INSERT INTO item VALUES (:id, concat('w', :id - 1));
-- name: claim tx=hold
SELECT id, log_it(owner) AS n FROM item WHERE owner = :worker;
-- name: complete
-- name: teardown
DROP FUNCTION log_it;
DROP TABLE item, log;
