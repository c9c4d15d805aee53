-- Control: consumers share one position. See strategies/offset_claim.c.
-- Status: 0 pending, 1 in process, 2 complete, 3 error.

-- name: setup
CREATE TABLE consumed (class TEXT PRIMARY KEY, position INTEGER NOT NULL);
CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    class TEXT NOT NULL,
    payload TEXT NOT NULL,
    status INTEGER NOT NULL DEFAULT 0,
    owner TEXT,
    claimed REAL,
    token INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, id) WHERE status = 0;

-- name: put tx=one begin=immediate
INSERT INTO consumed (class, position) VALUES (:class, 0) ON CONFLICT (class) DO NOTHING;
WITH RECURSIVE items (i) AS (
    SELECT :id UNION ALL SELECT i + 1 FROM items WHERE i < :id + :n - 1
)
INSERT INTO item (id, class, payload) SELECT i, :class, :payload FROM items;

-- name: claim tx=one begin=immediate
-- answer: row
UPDATE item
SET status = 1, owner = :worker, claimed = julianday('now'), token = token + 1
WHERE id IN (SELECT id
             FROM item
             WHERE class = :class AND status = 0
               AND id > (SELECT position FROM consumed WHERE class = :class)
             ORDER BY id
             LIMIT :n)
RETURNING id, payload, token;
UPDATE consumed
SET position = max(position, coalesce((SELECT max(id) FROM item
                                       WHERE class = :class AND status = 1 AND owner = :worker), 0))
WHERE class = :class;

-- name: complete
UPDATE item SET status = 2
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: error
UPDATE item SET status = 3
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- The position goes back unless another worker has moved it meanwhile.
-- name: free tx=one begin=immediate
UPDATE consumed SET position = :id - 1 WHERE class = :class AND position = :id;
-- require: row
UPDATE item SET status = 0, owner = NULL
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- An operator sets the position back, too.
-- name: clear-error tx=one begin=immediate
-- require: row
UPDATE item SET status = 0, owner = NULL WHERE id = :id AND status = 3;
UPDATE consumed SET position = min(position, :id - 1) WHERE class = :class;

-- name: clear-all-errors tx=one begin=immediate
UPDATE item SET status = 0, owner = NULL WHERE class = :class AND status = 3;
UPDATE consumed SET position = 0 WHERE class = :class;

-- name: reset-all tx=one begin=immediate
UPDATE item SET status = 0, owner = NULL WHERE class = :class AND status = 2;
UPDATE consumed SET position = 0 WHERE class = :class;

-- name: recover tx=one begin=immediate
UPDATE item SET status = 0, owner = NULL
WHERE class = :class AND status = 1 AND claimed < julianday('now') - :ttl_ms / 86400000.0;
UPDATE consumed SET position = 0 WHERE class = :class;

-- name: count
SELECT count(*) FILTER (WHERE status = 0) AS pending,
       count(*) FILTER (WHERE status = 1) AS active,
       count(*) FILTER (WHERE status = 2) AS done,
       count(*) FILTER (WHERE status = 3) AS failed
FROM item
WHERE class = :class;

-- name: teardown
DROP TABLE item;
DROP TABLE consumed;
