-- Claims that end by themselves: a visibility timeout. See strategies/lease_queue.c.
-- Status: 0 pending, or in process until visible_at; 2 complete, 3 error.

-- name: setup when recurring=no
CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    class TEXT NOT NULL,
    payload TEXT NOT NULL,
    status INTEGER NOT NULL DEFAULT 0,
    visible_at REAL NOT NULL DEFAULT (julianday('now')),
    owner TEXT,
    token INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, visible_at, id) WHERE status = 0;
CREATE INDEX item_owned ON item (class) WHERE status = 0 AND owner IS NOT NULL;

-- name: setup when recurring=yes
CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    class TEXT NOT NULL,
    payload TEXT NOT NULL,
    status INTEGER NOT NULL DEFAULT 0,
    visible_at REAL NOT NULL DEFAULT (julianday('now')),
    owner TEXT,
    token INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, visible_at, id) WHERE status = 0;
CREATE INDEX item_owned ON item (class) WHERE status = 0 AND owner IS NOT NULL;
CREATE INDEX item_due ON item (class, visible_at, id) WHERE status IN (0, 2);

-- name: put
WITH RECURSIVE items (i) AS (
    SELECT :id UNION ALL SELECT i + 1 FROM items WHERE i < :id + :n - 1
)
INSERT INTO item (id, class, payload) SELECT i, :class, :payload FROM items;

-- name: claim when recurring=no
UPDATE item
SET owner = :worker, visible_at = julianday('now') + :ttl_ms / 86400000.0, token = token + 1
WHERE id IN (SELECT id
             FROM item
             WHERE class = :class AND status = 0 AND visible_at <= julianday('now')
             ORDER BY visible_at, id
             LIMIT :n)
RETURNING id, payload, token;

-- Complete items are visible again when their period is over.
-- name: claim when recurring=yes
UPDATE item
SET status = 0, owner = :worker, visible_at = julianday('now') + :ttl_ms / 86400000.0, token = token + 1
WHERE id IN (SELECT id
             FROM item
             WHERE class = :class AND status IN (0, 2) AND visible_at <= julianday('now')
             ORDER BY visible_at, id
             LIMIT :n)
RETURNING id, payload, token;

-- name: renew when ends=each
UPDATE item SET visible_at = julianday('now') + :ttl_ms / 86400000.0
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token AND visible_at > julianday('now');

-- name: renew when ends=batch
UPDATE item SET visible_at = julianday('now') + :ttl_ms / 86400000.0
FROM json_each(:items) AS mine
WHERE item.id = json_extract(mine.value, '$.id') AND item.token = json_extract(mine.value, '$.token')
      AND item.status = 0 AND item.owner = :worker AND item.visible_at > julianday('now')
RETURNING id;

-- name: complete when recurring=no done=keep ends=each
UPDATE item SET status = 2
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: complete when recurring=no done=keep ends=batch
UPDATE item SET status = 2
FROM json_each(:items) AS mine
WHERE item.id = json_extract(mine.value, '$.id') AND item.token = json_extract(mine.value, '$.token')
      AND item.status = 0 AND item.owner = :worker
RETURNING id;

-- name: complete when recurring=no done=delete ends=each
DELETE FROM item
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: complete when recurring=no done=delete ends=batch
DELETE FROM item
WHERE id IN (SELECT item.id
             FROM json_each(:items) AS mine
             CROSS JOIN item ON item.id = json_extract(mine.value, '$.id')
                                AND item.token = json_extract(mine.value, '$.token')
             WHERE item.status = 0 AND item.owner = :worker)
RETURNING id;

-- name: complete when recurring=yes done=keep ends=each
UPDATE item SET status = 2, visible_at = julianday('now') + :period_ms / 86400000.0
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: complete when recurring=yes done=keep ends=batch
UPDATE item SET status = 2, visible_at = julianday('now') + :period_ms / 86400000.0
FROM json_each(:items) AS mine
WHERE item.id = json_extract(mine.value, '$.id') AND item.token = json_extract(mine.value, '$.token')
      AND item.status = 0 AND item.owner = :worker
RETURNING id;

-- name: error when ends=each
UPDATE item SET status = 3
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: error when ends=batch
UPDATE item SET status = 3
FROM json_each(:items) AS mine
WHERE item.id = json_extract(mine.value, '$.id') AND item.token = json_extract(mine.value, '$.token')
      AND item.status = 0 AND item.owner = :worker
RETURNING id;

-- name: free when ends=each
UPDATE item SET owner = NULL, visible_at = julianday('now')
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: free when ends=batch
UPDATE item SET owner = NULL, visible_at = julianday('now')
FROM json_each(:items) AS mine
WHERE item.id = json_extract(mine.value, '$.id') AND item.token = json_extract(mine.value, '$.token')
      AND item.status = 0 AND item.owner = :worker
RETURNING id;

-- name: clear-error
UPDATE item SET status = 0, owner = NULL, visible_at = julianday('now')
WHERE id = :id AND status = 3;

-- name: clear-all-errors
UPDATE item SET status = 0, owner = NULL, visible_at = julianday('now')
WHERE class = :class AND status = 3;

-- name: reset-all when done=keep
UPDATE item SET status = 0, owner = NULL, visible_at = julianday('now')
WHERE class = :class AND status = 2;

-- name: count
SELECT count(*) FILTER (WHERE status = 0 AND visible_at <= julianday('now')) AS pending,
       count(*) FILTER (WHERE status = 0 AND visible_at > julianday('now')) AS active,
       count(*) FILTER (WHERE status = 2) AS done,
       count(*) FILTER (WHERE status = 3) AS failed
FROM item
WHERE class = :class;

-- Nothing has to be done after a death but to wait; this ends all leases at once.
-- name: recover
UPDATE item SET owner = NULL, visible_at = julianday('now')
WHERE class = :class AND status = 0 AND owner IS NOT NULL;

-- name: teardown
DROP TABLE item;
