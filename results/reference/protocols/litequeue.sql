-- SQLite: the oldest free message is read and then marked by its number: pop=autocommit in two transactions (as
-- Python's driver does if one forgets BEGIN), pop=deferred and pop=immediate in one.
-- After litequeue's pop. The statements are ours: no code of the library was run, and no version of it is claimed.
-- Expected: autocommit broken: two read the same message: no-duplicate. immediate right; deferred right as well: of
-- two that have read, the second may not write (SQLITE_BUSY).
--
-- strategy: litequeue
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim
-- option: pop = autocommit | deferred | immediate

-- name: setup [sqlite]
CREATE TABLE queue (id INTEGER PRIMARY KEY, topic TEXT NOT NULL, data TEXT, status INTEGER NOT NULL DEFAULT 0);
CREATE INDEX queue_ready ON queue (topic, status, id);

-- name: put [sqlite]
INSERT INTO queue (id, topic, data) VALUES (:id, :class, :payload);

-- name: claim [sqlite] when pop=autocommit
-- require: row
SELECT id FROM queue WHERE topic = :class AND status = 0 ORDER BY id LIMIT 1;
UPDATE queue SET status = 1 WHERE id = :id RETURNING id, data AS payload;

-- name: claim [sqlite] tx=one begin=deferred when pop=deferred
-- on-error: busy
-- require: row
SELECT id FROM queue WHERE topic = :class AND status = 0 ORDER BY id LIMIT 1;
UPDATE queue SET status = 1 WHERE id = :id RETURNING id, data AS payload;

-- name: claim [sqlite] tx=one begin=immediate when pop=immediate
-- require: row
SELECT id FROM queue WHERE topic = :class AND status = 0 ORDER BY id LIMIT 1;
UPDATE queue SET status = 1 WHERE id = :id RETURNING id, data AS payload;

-- name: complete [sqlite]
UPDATE queue SET status = 2 WHERE id = :id AND status = 1;

-- name: teardown [sqlite]
DROP TABLE queue;
