-- The whole database locked. See strategies/table_lock.c.
-- SQLite locks nothing smaller: the transaction itself is the lock.

-- name: setup
CREATE TABLE lock_table (dummy INTEGER);

-- name: acquire when lock_mode=access-exclusive tx=hold begin=exclusive
SELECT 1 AS granted;

-- name: acquire when lock_mode=exclusive|share-row-exclusive tx=hold begin=immediate
SELECT 1 AS granted;

-- The commit is the release.
-- name: release

-- name: teardown
DROP TABLE lock_table;
