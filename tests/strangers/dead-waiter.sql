-- A line of waiters before a lease. Each poll shows that its waiter is alive; seen=all: no statement checks that, and
-- a dead waiter is in the line for ever.
-- Truth expected: seen=live right; seen=all broken: recovery.
--
-- strategy: dead-waiter
-- shape: lock
-- claims: exclusive, recovery
-- option: seen = live | all
-- option: ttl_ms = 30000

-- name: setup [sqlite]
CREATE TABLE line (no INTEGER PRIMARY KEY AUTOINCREMENT, work TEXT NOT NULL, until_ms INTEGER NOT NULL);
CREATE TABLE held (work TEXT PRIMARY KEY, holder TEXT, until_ms INTEGER NOT NULL);

-- name: resource [sqlite]
INSERT INTO held (work, until_ms) VALUES (:resource, 0);

-- name: enqueue [sqlite]
INSERT INTO line (work, until_ms) VALUES (:resource, :now + :ttl_ms) RETURNING no AS ticket;

-- name: acquire [sqlite] tx=one begin=immediate commit=always when seen=live
UPDATE line SET until_ms = :now + :ttl_ms WHERE no = :ticket;
-- answer: row
UPDATE held SET holder = :worker, until_ms = :now + :ttl_ms
WHERE work = :resource AND until_ms <= :now
  AND :ticket = (SELECT min(no) FROM line WHERE work = :resource AND until_ms > :now);
DELETE FROM line WHERE no = :ticket AND EXISTS (SELECT 1 FROM held WHERE work = :resource AND holder = :worker);

-- name: acquire [sqlite] tx=one begin=immediate commit=always when seen=all
-- answer: row
UPDATE held SET holder = :worker, until_ms = :now + :ttl_ms
WHERE work = :resource AND until_ms <= :now AND :ticket = (SELECT min(no) FROM line WHERE work = :resource);
DELETE FROM line WHERE no = :ticket AND EXISTS (SELECT 1 FROM held WHERE work = :resource AND holder = :worker);

-- name: release [sqlite]
UPDATE held SET holder = NULL, until_ms = 0 WHERE work = :resource AND holder = :worker;

-- name: cancel [sqlite]
DELETE FROM line WHERE no = :ticket;

-- name: teardown [sqlite]
DROP TABLE line;
DROP TABLE held;
