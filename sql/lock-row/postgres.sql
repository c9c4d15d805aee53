-- A row inserted to lock, deleted to release. See strategies/lock_row.c.

-- name: setup
CREATE TABLE lock_row (
    name text PRIMARY KEY,
    owner text NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- name: acquire when insert_form=error
-- on-error: busy
INSERT INTO lock_row (name, owner) VALUES (:resource, :worker);

-- name: acquire when insert_form=ignore
INSERT INTO lock_row (name, owner) VALUES (:resource, :worker) ON CONFLICT DO NOTHING;

-- name: release
DELETE FROM lock_row WHERE name = :resource AND owner = :worker;

-- The row of a dead holder stays until an operator deletes it.
-- name: recover
DELETE FROM lock_row WHERE since < clock_timestamp() - :ttl_ms * interval '1 millisecond';

-- name: teardown
DROP TABLE lock_row;
