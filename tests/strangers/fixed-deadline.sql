-- The deadline is in the statement, but acquire does not use it: an operator's recover does. Right.
--
-- strategy: fixed-deadline
-- shape: lock
-- claims: exclusive, recovery
-- name: setup
CREATE TABLE held (name varchar(64) PRIMARY KEY, owner varchar(64), until timestamptz);
-- name: resource
INSERT INTO held (name) VALUES (:resource);
-- name: acquire
UPDATE held SET owner = :worker, until = clock_timestamp() + interval '30 s' WHERE name = :resource AND owner IS NULL;
-- name: release
UPDATE held SET owner = NULL WHERE name = :resource AND owner = :worker;
-- name: recover
UPDATE held SET owner = NULL WHERE owner IS NOT NULL AND until < clock_timestamp();
-- name: teardown
DROP TABLE held;
