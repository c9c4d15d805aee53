-- A queue in two tables. Its recover copies old claims back and then deletes them. look=once asks for the time once, and keeps
-- it; look=twice asks for each statement: a claim that gets old in between is deleted and never copied.
-- Truth expected: once right; twice broken: no-loss, of a worker that is alive.
--
-- strategy: two-looks
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release
-- option: stuck_ms = 30000
-- option: look = once | twice
-- limit: stuck_ms

-- name: setup
CREATE TABLE waits (id INTEGER PRIMARY KEY, class TEXT NOT NULL, payload TEXT);
CREATE TABLE works (number INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER NOT NULL UNIQUE, class TEXT NOT NULL, payload TEXT,
                    since REAL NOT NULL);

-- name: put
INSERT INTO waits (id, class, payload) VALUES (:id, :class, :payload);

-- name: claim tx=one begin=immediate
-- answer: row
-- require: row
INSERT INTO works (id, class, payload, since)
SELECT id, class, payload, julianday('now') FROM waits WHERE class = :class ORDER BY id LIMIT 1
RETURNING id, payload, number AS token;
DELETE FROM waits WHERE id = :id;

-- name: complete
DELETE FROM works WHERE id = :id AND number = :token;

-- name: recover tx=one begin=immediate commit=always when look=once
SELECT julianday('now') AS seen;
INSERT INTO waits (id, class, payload)
SELECT id, class, payload FROM works WHERE since < :seen - :stuck_ms / 86400000.0;
DELETE FROM works WHERE since < :seen - :stuck_ms / 86400000.0;

-- name: recover tx=one begin=immediate commit=always when look=twice
INSERT INTO waits (id, class, payload)
SELECT id, class, payload FROM works WHERE since < julianday('now') - :stuck_ms / 86400000.0;
DELETE FROM works WHERE since < julianday('now') - :stuck_ms / 86400000.0;

-- name: teardown
DROP TABLE waits;
DROP TABLE works;
