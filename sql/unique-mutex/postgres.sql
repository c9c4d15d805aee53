-- A unique index over what is running. See strategies/unique_mutex.c.

-- name: setup
CREATE TABLE run (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    owner text NOT NULL,
    state text NOT NULL DEFAULT 'running'
);
CREATE UNIQUE INDEX run_one ON run (name) WHERE state = 'running';

-- name: acquire
-- on-error: busy
INSERT INTO run (name, owner) VALUES (:resource, :worker) RETURNING id;

-- name: release
UPDATE run SET state = 'done' WHERE id = :id AND owner = :worker AND state = 'running';

-- The run of a dead holder stays "running" until an operator changes its state.
-- name: recover
UPDATE run SET state = 'lost' WHERE state = 'running';

-- name: teardown
DROP TABLE run;
