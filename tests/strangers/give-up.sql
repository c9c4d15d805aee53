-- Workers wait in a line of numbers, and the lowest one has the lock. give=all: a worker that gives up takes away the
-- numbers before its own, too.
-- Truth expected: give=own right; give=all broken: the first of them is the holder's: exclusive, fifo.
--
-- strategy: give-up
-- shape: lock
-- claims: exclusive, fifo
-- option: give = own | all

-- name: setup [sqlite]
CREATE TABLE line (no INTEGER PRIMARY KEY AUTOINCREMENT, work TEXT NOT NULL);

-- name: enqueue [sqlite]
INSERT INTO line (work) VALUES (:resource) RETURNING no AS ticket;

-- name: acquire [sqlite]
SELECT no FROM line WHERE no = :ticket AND no = (SELECT min(no) FROM line WHERE work = :resource);

-- name: release [sqlite]
DELETE FROM line WHERE no = :ticket;

-- name: cancel [sqlite] when give=own
DELETE FROM line WHERE no = :ticket;

-- name: cancel [sqlite] when give=all
DELETE FROM line WHERE no <= :ticket AND work = :resource;

-- name: teardown [sqlite]
DROP TABLE line;
