-- A queue under a write lock. See strategies/merge_table_lock.c.
-- SQLite has no MERGE; its lock is the transaction's: IMMEDIATE keeps other writers out, EXCLUSIVE
-- (with a rollback journal) readers too. lock_mode=share is DEFERRED: it reads, and then becomes a writer,
-- which fails if another one did so in between.

-- name: setup
CREATE TABLE queue (
    id INTEGER PRIMARY KEY,
    class TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_on REAL NOT NULL DEFAULT (julianday('now')),
    agent_id TEXT,
    taken_on REAL,
    failed INTEGER NOT NULL DEFAULT 0,
    token INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX queue_free ON queue (class, created_on, id) WHERE agent_id IS NULL;
CREATE INDEX queue_taken ON queue (class, taken_on) WHERE agent_id IS NOT NULL AND NOT failed;
CREATE TABLE done (id INTEGER PRIMARY KEY, class TEXT NOT NULL, payload TEXT NOT NULL,
                   token INTEGER NOT NULL);

-- name: put
WITH RECURSIVE items (id) AS (
    SELECT :id UNION ALL SELECT id + 1 FROM items WHERE id < :id + :n - 1
)
INSERT INTO queue (id, class, payload) SELECT id, :class, :payload FROM items;

-- name: claim when form!=published lock_mode=share-row-exclusive|exclusive tx=one begin=immediate
UPDATE queue
SET agent_id = :worker, taken_on = julianday('now'), token = token + 1
WHERE id IN (SELECT id FROM queue
             WHERE class = :class AND agent_id IS NULL ORDER BY created_on, id LIMIT :n)
RETURNING 'UPDATE' AS action, id, payload, token;

-- name: complete when form!=published done=delete lock_mode=share-row-exclusive|exclusive tx=one begin=immediate
DELETE FROM queue
WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed
RETURNING 'DELETE' AS action, id;

-- name: complete when form!=published done=keep lock_mode=share-row-exclusive|exclusive tx=one begin=immediate
-- require: row
INSERT INTO done
SELECT id, class, payload, token FROM queue
WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed;
DELETE FROM queue
WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed
RETURNING 'DELETE' AS action, id;

-- name: claim when form!=published lock_mode=access-exclusive tx=one begin=exclusive
UPDATE queue
SET agent_id = :worker, taken_on = julianday('now'), token = token + 1
WHERE id IN (SELECT id FROM queue
             WHERE class = :class AND agent_id IS NULL ORDER BY created_on, id LIMIT :n)
RETURNING 'UPDATE' AS action, id, payload, token;

-- name: complete when form!=published done=delete lock_mode=access-exclusive tx=one begin=exclusive
DELETE FROM queue
WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed
RETURNING 'DELETE' AS action, id;

-- name: complete when form!=published done=keep lock_mode=access-exclusive tx=one begin=exclusive
-- require: row
INSERT INTO done
SELECT id, class, payload, token FROM queue
WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed;
DELETE FROM queue
WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed
RETURNING 'DELETE' AS action, id;

-- name: claim when form!=published lock_mode=share tx=one begin=deferred
-- require: row
SELECT count(*) FROM queue;
UPDATE queue
SET agent_id = :worker, taken_on = julianday('now'), token = token + 1
WHERE id IN (SELECT id FROM queue
             WHERE class = :class AND agent_id IS NULL ORDER BY created_on, id LIMIT :n)
RETURNING 'UPDATE' AS action, id, payload, token;

-- name: complete when form!=published done=delete lock_mode=share tx=one begin=deferred
-- require: row
SELECT count(*) FROM queue;
DELETE FROM queue
WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed
RETURNING 'DELETE' AS action, id;

-- name: complete when form!=published done=keep lock_mode=share tx=one begin=deferred
-- require: row
SELECT count(*) FROM queue;
-- require: row
INSERT INTO done
SELECT id, class, payload, token FROM queue
WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed;
DELETE FROM queue
WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed
RETURNING 'DELETE' AS action, id;

-- As published: any one row, in whoever's hands. One that is taken is deleted, else it is taken.
-- name: claim when form=published lock_mode=share tx=one begin=deferred commit=always
-- require: row
SELECT id FROM queue WHERE class = :class LIMIT 1;
DELETE FROM queue WHERE id = :id AND agent_id IS NOT NULL;
UPDATE queue SET agent_id = :worker, taken_on = julianday('now'), token = token + 1 WHERE id = :id;
SELECT 'UPDATE' AS action, id, payload, token FROM queue WHERE id = :id;

-- name: claim when form=published lock_mode=share-row-exclusive|exclusive tx=one begin=immediate commit=always
-- require: row
SELECT id FROM queue WHERE class = :class LIMIT 1;
DELETE FROM queue WHERE id = :id AND agent_id IS NOT NULL;
UPDATE queue SET agent_id = :worker, taken_on = julianday('now'), token = token + 1 WHERE id = :id;
SELECT 'UPDATE' AS action, id, payload, token FROM queue WHERE id = :id;

-- name: claim when form=published lock_mode=access-exclusive tx=one begin=exclusive commit=always
-- require: row
SELECT id FROM queue WHERE class = :class LIMIT 1;
DELETE FROM queue WHERE id = :id AND agent_id IS NOT NULL;
UPDATE queue SET agent_id = :worker, taken_on = julianday('now'), token = token + 1 WHERE id = :id;
SELECT 'UPDATE' AS action, id, payload, token FROM queue WHERE id = :id;

-- As published an agent that is done writes nothing: some later poll deletes the row. This only looks
-- whether the row is still there.
-- name: complete when form=published
SELECT id FROM queue WHERE id = :id AND agent_id = :worker AND token = :token;

-- name: error
UPDATE queue SET failed = 1
WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed;

-- name: free
UPDATE queue SET agent_id = NULL
WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed;

-- name: clear-error
UPDATE queue SET agent_id = NULL, failed = 0 WHERE id = :id AND failed;

-- name: clear-all-errors
UPDATE queue SET agent_id = NULL, failed = 0 WHERE class = :class AND failed;

-- name: reset-all when done=keep tx=one begin=immediate
INSERT INTO queue (id, class, payload, token)
SELECT id, class, payload, token FROM done WHERE class = :class;
DELETE FROM done WHERE class = :class;

-- Not of the published form: a row whose agent is done looks like one whose agent died.
-- name: recover when form!=published
UPDATE queue SET agent_id = NULL
WHERE class = :class AND agent_id IS NOT NULL AND NOT failed
  AND taken_on < julianday('now') - :ttl_ms / 86400000.0;

-- name: count
SELECT count(*) FILTER (WHERE agent_id IS NULL) AS pending,
       count(*) FILTER (WHERE agent_id IS NOT NULL AND NOT failed) AS active,
       (SELECT count(*) FROM done WHERE class = :class) AS done,
       count(*) FILTER (WHERE failed) AS failed
FROM queue
WHERE class = :class;

-- name: teardown
DROP TABLE queue;
DROP TABLE done;
