-- Control: count the holders, then add oneself. See strategies/count_gate.c.

-- name: setup
CREATE TABLE holder (
    name varchar(64) NOT NULL,
    owner varchar(64) NOT NULL,
    PRIMARY KEY (name, owner)
);

-- name: acquire tx=one
-- require: row
SELECT 1 AS free FROM DUAL WHERE (SELECT count(*) FROM holder WHERE name = :resource) < :capacity;
INSERT INTO holder (name, owner) VALUES (:resource, :worker);

-- name: release
DELETE FROM holder WHERE name = :resource AND owner = :worker;

-- name: teardown
DROP TABLE holder;
