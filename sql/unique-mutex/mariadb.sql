-- A unique index over what is running. See strategies/unique_mutex.c.

-- name: setup
CREATE TABLE run (
    id bigint AUTO_INCREMENT PRIMARY KEY,
    name varchar(64) NOT NULL,
    owner varchar(64) NOT NULL,
    state varchar(8) NOT NULL DEFAULT 'running',
    running varchar(64) GENERATED ALWAYS AS (IF(state = 'running', name, NULL)) VIRTUAL UNIQUE
);

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
