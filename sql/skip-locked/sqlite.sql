-- A queue with one writer: nothing to skip. See strategies/skip_locked.c.
-- All forms are the same here: SQLite evaluates the sub-select once, and there is no other writer.

-- name: setup when recurring=no
CREATE TABLE item_status (status INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
INSERT INTO item_status VALUES (0, 'Pending'), (1, 'In process'), (2, 'Complete'), (3, 'Error');
CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    class TEXT NOT NULL,
    payload TEXT NOT NULL,
    status INTEGER NOT NULL DEFAULT 0 REFERENCES item_status,
    status_modified REAL NOT NULL DEFAULT (julianday('now')),
    owner TEXT,
    token INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, status_modified, id) WHERE status = 0;
CREATE INDEX item_active ON item (class, status_modified) WHERE status = 1;

-- name: setup when recurring=yes
CREATE TABLE item_status (status INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
INSERT INTO item_status VALUES (0, 'Pending'), (1, 'In process'), (2, 'Complete'), (3, 'Error');
CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    class TEXT NOT NULL,
    payload TEXT NOT NULL,
    status INTEGER NOT NULL DEFAULT 0 REFERENCES item_status,
    status_modified REAL NOT NULL DEFAULT (julianday('now')),
    owner TEXT,
    token INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, status_modified, id) WHERE status = 0;
CREATE INDEX item_active ON item (class, status_modified) WHERE status = 1;
CREATE INDEX item_due ON item (class, status_modified, id) WHERE status IN (0, 2);

-- name: put
WITH RECURSIVE items (i) AS (
    SELECT :id UNION ALL SELECT i + 1 FROM items WHERE i < :id + :n - 1
)
INSERT INTO item (id, class, payload) SELECT i, :class, :payload FROM items;

-- name: claim when form!=update recurring=no
UPDATE item
SET status = 1, status_modified = julianday('now'), owner = :worker, token = token + 1
WHERE id IN (SELECT id
             FROM item
             WHERE class = :class AND status = 0
             ORDER BY status_modified, id
             LIMIT :n)
RETURNING id, payload, token;

-- Complete items are due again when a period has passed since.
-- name: claim when form!=update recurring=yes
UPDATE item
SET status = 1, status_modified = julianday('now'), owner = :worker, token = token + 1
WHERE id IN (SELECT id
             FROM item
             WHERE class = :class
                          AND (status = 0 OR (status = 2 AND status_modified <= julianday('now') - :period_ms / 86400000.0))
             ORDER BY status_modified, id
             LIMIT :n)
RETURNING id, payload, token;

-- name: complete when done=keep ends=each
UPDATE item SET status = 2, status_modified = julianday('now')
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: complete when done=keep ends=batch
UPDATE item SET status = 2, status_modified = julianday('now')
FROM json_each(:items) AS mine
WHERE item.id = json_extract(mine.value, '$.id') AND item.token = json_extract(mine.value, '$.token')
      AND item.status = 1 AND item.owner = :worker
RETURNING id;

-- name: complete when done=delete ends=each
DELETE FROM item
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: complete when done=delete ends=batch
DELETE FROM item
WHERE id IN (SELECT item.id
             FROM json_each(:items) AS mine
             CROSS JOIN item ON item.id = json_extract(mine.value, '$.id')
                                AND item.token = json_extract(mine.value, '$.token')
             WHERE item.status = 1 AND item.owner = :worker)
RETURNING id;

-- name: error when ends=each
UPDATE item SET status = 3, status_modified = julianday('now')
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: error when ends=batch
UPDATE item SET status = 3, status_modified = julianday('now')
FROM json_each(:items) AS mine
WHERE item.id = json_extract(mine.value, '$.id') AND item.token = json_extract(mine.value, '$.token')
      AND item.status = 1 AND item.owner = :worker
RETURNING id;

-- name: free when ends=each
UPDATE item SET status = 0, status_modified = julianday('now'), owner = NULL
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: free when ends=batch
UPDATE item SET status = 0, status_modified = julianday('now'), owner = NULL
FROM json_each(:items) AS mine
WHERE item.id = json_extract(mine.value, '$.id') AND item.token = json_extract(mine.value, '$.token')
      AND item.status = 1 AND item.owner = :worker
RETURNING id;

-- name: clear-error
UPDATE item SET status = 0, status_modified = julianday('now'), owner = NULL
WHERE id = :id AND status = 3;

-- name: clear-all-errors
UPDATE item SET status = 0, status_modified = julianday('now'), owner = NULL
WHERE class = :class AND status = 3;

-- name: reset-all when done=keep
UPDATE item SET status = 0, status_modified = julianday('now'), owner = NULL
WHERE class = :class AND status = 2;

-- name: recover
UPDATE item SET status = 0, status_modified = julianday('now'), owner = NULL
WHERE class = :class AND status = 1
  AND status_modified < julianday('now') - :ttl_ms / 86400000.0;

-- name: count
SELECT count(*) FILTER (WHERE status = 0) AS pending,
       count(*) FILTER (WHERE status = 1) AS active,
       count(*) FILTER (WHERE status = 2) AS done,
       count(*) FILTER (WHERE status = 3) AS failed
FROM item
WHERE class = :class;

-- name: teardown
DROP TABLE item;
DROP TABLE item_status;
