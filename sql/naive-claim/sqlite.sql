-- Control: a claim by a sub-select without a lock. See strategies/naive_claim.c.
-- Status: 0 pending, 1 in process, 2 complete, 3 error.

-- name: setup
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

-- name: put
WITH RECURSIVE items (i) AS (
    SELECT :id UNION ALL SELECT i + 1 FROM items WHERE i < :id + :n - 1
)
INSERT INTO item (id, class, payload) SELECT i, :class, :payload FROM items;

-- name: claim
UPDATE item
SET status = 1, modified = julianday('now'), owner = :worker, token = token + 1
WHERE id = (SELECT id
            FROM item
            WHERE class = :class AND status = 0
            ORDER BY modified, id
            LIMIT 1)
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
