-- Waiters of all locks stand in one table. ahead=own: the first of its own lock gets it. ahead=all: the first of all
-- does, so a lock that is free waits for the others. ahead=lone is as own, and a worker is in one line at most.
-- Truth expected: own and lone right; all broken: progress.
--
-- strategy: one-line
-- shape: lock
-- claims: exclusive, owner-release, progress
-- option: ahead = own | all | lone

-- name: setup [sqlite] when ahead=own
CREATE TABLE line (n integer PRIMARY KEY AUTOINCREMENT, name text NOT NULL, worker text NOT NULL);
-- name: setup [sqlite] when ahead=all
CREATE TABLE line (n integer PRIMARY KEY AUTOINCREMENT, name text NOT NULL, worker text NOT NULL);
-- name: setup [sqlite] when ahead=lone
CREATE TABLE line (n integer PRIMARY KEY AUTOINCREMENT, name text NOT NULL, worker text NOT NULL UNIQUE);

-- name: enqueue
INSERT INTO line (name, worker) VALUES (:resource, :worker) RETURNING n AS ticket;

-- name: acquire when ahead=all
SELECT n AS token FROM line WHERE n = :ticket AND n = (SELECT min(n) FROM line);
-- name: acquire when ahead=own
SELECT n AS token FROM line WHERE n = :ticket AND n = (SELECT min(n) FROM line WHERE name = :resource);
-- name: acquire when ahead=lone
SELECT n AS token FROM line WHERE n = :ticket AND n = (SELECT min(n) FROM line WHERE name = :resource);

-- name: release
DELETE FROM line WHERE n = :token AND worker = :worker;

-- name: teardown
DROP TABLE line;
