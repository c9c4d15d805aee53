-- Read, then a conditional UPDATE by version. See strategies/cas.c.
-- Status: 0 pending, 1 in process, 2 complete, 3 error.

-- name: setup when recurring=no
CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    class TEXT NOT NULL,
    payload TEXT NOT NULL,
    status INTEGER NOT NULL DEFAULT 0,
    modified REAL NOT NULL DEFAULT (julianday('now')),
    owner TEXT,
    token INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, modified, id) WHERE status = 0;
CREATE INDEX item_active ON item (class, modified) WHERE status = 1;

-- name: setup when recurring=yes
CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    class TEXT NOT NULL,
    payload TEXT NOT NULL,
    status INTEGER NOT NULL DEFAULT 0,
    modified REAL NOT NULL DEFAULT (julianday('now')),
    owner TEXT,
    token INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, modified, id) WHERE status = 0;
CREATE INDEX item_active ON item (class, modified) WHERE status = 1;
CREATE INDEX item_due ON item (class, modified, id) WHERE status IN (0, 2);

-- name: put
WITH RECURSIVE items (i) AS (
    SELECT :id UNION ALL SELECT i + 1 FROM items WHERE i < :id + :n - 1
)
INSERT INTO item (id, class, payload) SELECT i, :class, :payload FROM items;

-- No transaction around the two: the row may have changed since the read, and then the UPDATE finds
-- nothing.
-- name: claim when recurring=no
-- require: row
SELECT id, token
FROM item
WHERE class = :class AND status = 0
ORDER BY modified, id
LIMIT 1;
UPDATE item SET status = 1, modified = julianday('now'), owner = :worker, token = token + 1
WHERE id = :id AND status = 0 AND token = :token
RETURNING id, payload, token;

-- Complete items are due again when a period has passed since. A version is claimed once.
-- name: claim when recurring=yes
-- require: row
SELECT id, token
FROM item
WHERE class = :class AND (status = 0 OR (status = 2 AND modified <= julianday('now') - :period_ms / 86400000.0))
ORDER BY modified, id
LIMIT 1;
UPDATE item SET status = 1, modified = julianday('now'), owner = :worker, token = token + 1
WHERE id = :id AND status IN (0, 2) AND token = :token
RETURNING id, payload, token;

-- name: complete
UPDATE item SET status = 2, modified = julianday('now')
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: error
UPDATE item SET status = 3, modified = julianday('now')
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: free
UPDATE item SET status = 0, modified = julianday('now'), owner = NULL
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: clear-error
UPDATE item SET status = 0, modified = julianday('now'), owner = NULL
WHERE id = :id AND status = 3;

-- name: clear-all-errors
UPDATE item SET status = 0, modified = julianday('now'), owner = NULL
WHERE class = :class AND status = 3;

-- name: reset-all
UPDATE item SET status = 0, modified = julianday('now'), owner = NULL
WHERE class = :class AND status = 2;

-- name: recover
UPDATE item SET status = 0, modified = julianday('now'), owner = NULL
WHERE class = :class AND status = 1
  AND modified < julianday('now') - :ttl_ms / 86400000.0;

-- name: count
SELECT count(*) FILTER (WHERE status = 0) AS pending,
       count(*) FILTER (WHERE status = 1) AS active,
       count(*) FILTER (WHERE status = 2) AS done,
       count(*) FILTER (WHERE status = 3) AS failed
FROM item
WHERE class = :class;

-- name: teardown
DROP TABLE item;
