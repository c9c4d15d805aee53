-- The lock around a migration, tried and not waited for: an advisory lock of the session, or of a transaction of its own
-- that stays open meanwhile; on MariaDB a named lock.
-- After Flyway (PostgreSQLAdvisoryLockTemplate, whose transactional form is for poolers; MySQLNamedLockTemplate). The
-- statements are ours: no code of the library was run, and no version of it is claimed.
-- Expected: right on one server. Through a pooler, or on several nodes, the lock of the session is none.
--
-- strategy: flyway
-- shape: lock
-- claims: exclusive, recovery
-- option: lock = session | transaction

-- name: setup [postgres, mariadb]
CREATE TABLE flyway_schema_history (installed_rank int PRIMARY KEY);

-- name: acquire [postgres] session=keep when lock=session
SELECT pg_try_advisory_lock(:space_no::int, :resource_no::int) AS granted;

-- name: acquire [postgres] when lock=transaction tx=hold
SELECT pg_try_advisory_xact_lock(:space_no::int, :resource_no::int) AS granted;

-- name: acquire [mariadb] session=keep when lock=session
SELECT GET_LOCK(CONCAT('Flyway-', :space_no, '-', :resource), 0) AS granted;

-- name: release [postgres] when lock=session
SELECT pg_advisory_unlock(:space_no::int, :resource_no::int) AS granted;

-- name: release [postgres] when lock=transaction

-- name: release [mariadb] when lock=session
SELECT RELEASE_LOCK(CONCAT('Flyway-', :space_no, '-', :resource)) AS granted;

-- name: teardown [postgres, mariadb]
DROP TABLE flyway_schema_history;
