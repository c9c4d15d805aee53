-- A line for a lock. cancel=first: a waiter that gives up deletes the first of the line; own: itself;
-- kept: marks its row, which stays in the line.
-- Truth expected: first broken: exclusive, fifo; kept broken: progress; own right.
--
-- strategy: line-cancel
-- shape: lock
-- claims: exclusive, fifo, owner-release, progress
-- option: cancel = first | own | kept
-- name: setup
CREATE TABLE line (n integer PRIMARY KEY AUTOINCREMENT, name text NOT NULL, worker text NOT NULL);
-- name: enqueue
INSERT INTO line (name, worker) VALUES (:resource, :worker) RETURNING n AS ticket;
-- name: acquire
SELECT n AS token FROM line WHERE name = :resource AND worker = :worker
AND n = (SELECT min(n) FROM line WHERE name = :resource);
-- name: release
DELETE FROM line WHERE name = :resource AND worker = :worker;
-- name: cancel when cancel=own
DELETE FROM line WHERE n = :ticket;
-- name: cancel when cancel=first
DELETE FROM line WHERE n = (SELECT min(n) FROM line WHERE name = :resource);
-- name: cancel when cancel=kept
UPDATE line SET worker = worker || ' (gone)' WHERE n = :ticket;
-- name: teardown
DROP TABLE line;
