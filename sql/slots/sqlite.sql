-- One row for each holder that may be. See strategies/slots.c.
-- No row locks here: the owner stands in the row, and outlives a holder that dies.

-- name: setup
CREATE TABLE slot (
    name TEXT NOT NULL,
    slot_no INTEGER NOT NULL,
    owner TEXT,
    PRIMARY KEY (name, slot_no)
);

-- name: resource
WITH RECURSIVE slots (i) AS (
    SELECT 1 UNION ALL SELECT i + 1 FROM slots WHERE i < :capacity
)
INSERT INTO slot (name, slot_no) SELECT :resource, i FROM slots;

-- name: acquire
UPDATE slot SET owner = :worker
WHERE name = :resource
  AND slot_no = (SELECT slot_no FROM slot WHERE name = :resource AND owner IS NULL LIMIT 1)
RETURNING slot_no;

-- name: release
UPDATE slot SET owner = NULL WHERE name = :resource AND slot_no = :slot_no AND owner = :worker;

-- name: teardown
DROP TABLE slot;
