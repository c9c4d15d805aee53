-- GET_LOCK on MariaDB, not waited for. answer=ignored takes the row that it always returns for a yes; answer=read
-- looks at the 1 or 0 in it.
-- After with_advisory_lock and Flyway on MySQL. The statements are ours: no code of the library was run, and no
-- version of it is claimed.
-- Expected: ignored broken: exclusive. read right.
--
-- strategy: get-lock
-- shape: lock
-- claims: exclusive, recovery
-- option: answer = ignored | read

-- name: setup [mariadb]
CREATE TABLE schema_history (version bigint PRIMARY KEY);

-- name: acquire [mariadb] session=keep when answer=ignored
SELECT GET_LOCK(CONCAT('flyway-', :space_no, '-', :resource), 0) AS got;

-- name: acquire [mariadb] session=keep when answer=read
SELECT GET_LOCK(CONCAT('flyway-', :space_no, '-', :resource), 0) AS granted;

-- name: release [mariadb]
SELECT RELEASE_LOCK(CONCAT('flyway-', :space_no, '-', :resource)) AS granted;

-- name: teardown [mariadb]
DROP TABLE schema_history;
