-- A row inserted to lock, deleted to release. See strategies/lock_row.c.

-- name: setup
CREATE TABLE lock_row (
    name varchar(64) PRIMARY KEY,
    owner varchar(64) NOT NULL,
    since datetime(6) NOT NULL DEFAULT SYSDATE(6)
);

-- name: acquire when insert_form=error
-- on-error: busy
INSERT INTO lock_row (name, owner) VALUES (:resource, :worker);

-- name: acquire when insert_form=ignore
INSERT IGNORE INTO lock_row (name, owner) VALUES (:resource, :worker);

-- name: release
DELETE FROM lock_row WHERE name = :resource AND owner = :worker;

-- The row of a dead holder stays until an operator deletes it.
-- name: recover
DELETE FROM lock_row WHERE since < SYSDATE(6) - INTERVAL :ttl_ms * 1000 MICROSECOND;

-- name: teardown
DROP TABLE lock_row;
