-- One row for each holder that may be. See strategies/slots.c.

-- name: setup
CREATE TABLE slot (
    name varchar(64) NOT NULL,
    slot_no int NOT NULL,
    PRIMARY KEY (name, slot_no)
);

-- name: resource
INSERT INTO slot (name, slot_no) SELECT :resource, seq FROM seq_1_to_10000 WHERE seq <= :capacity;

-- name: acquire tx=hold
SELECT slot_no
FROM slot
WHERE name = :resource
ORDER BY slot_no
LIMIT 1
FOR UPDATE SKIP LOCKED;

-- The commit is the release.
-- name: release

-- name: teardown
DROP TABLE slot;
