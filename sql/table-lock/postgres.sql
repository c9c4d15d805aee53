-- A whole table locked. See strategies/table_lock.c.

-- name: setup
CREATE TABLE lock_table (dummy int);

-- name: acquire tx=hold
LOCK TABLE lock_table IN {lock_mode} MODE;
SELECT 1 AS granted;

-- The commit is the release.
-- name: release

-- name: teardown
DROP TABLE lock_table;
