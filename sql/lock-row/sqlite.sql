-- A row inserted to lock, deleted to release. See strategies/lock_row.c.

-- name: setup
CREATE TABLE lock_row (
    name TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    since REAL NOT NULL DEFAULT (julianday('now'))
);

-- name: acquire when insert_form=error
-- on-error: busy
INSERT INTO lock_row (name, owner) VALUES (:resource, :worker);

-- name: acquire when insert_form=ignore
INSERT OR IGNORE INTO lock_row (name, owner) VALUES (:resource, :worker);

-- name: release
DELETE FROM lock_row WHERE name = :resource AND owner = :worker;

-- The row of a dead holder stays until an operator deletes it.
-- name: recover
DELETE FROM lock_row WHERE since < julianday('now') - :ttl_ms / 86400000.0;

-- name: teardown
DROP TABLE lock_row;
