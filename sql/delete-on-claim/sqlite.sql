-- A claim deletes its items: at most once. See strategies/delete_on_claim.c.

-- name: setup
CREATE TABLE item (id INTEGER PRIMARY KEY, class TEXT NOT NULL, payload TEXT NOT NULL);
CREATE INDEX item_class ON item (class, id);

-- name: put
WITH RECURSIVE items (i) AS (
    SELECT :id UNION ALL SELECT i + 1 FROM items WHERE i < :id + :n - 1
)
INSERT INTO item (id, class, payload) SELECT i, :class, :payload FROM items;

-- name: claim
DELETE FROM item
WHERE id IN (SELECT id FROM item WHERE class = :class ORDER BY id LIMIT :n)
RETURNING id, payload;

-- The claim has left nothing to end.
-- name: complete

-- name: count
SELECT count(*) AS pending, 0 AS active, 0 AS done, 0 AS failed FROM item WHERE class = :class;

-- name: teardown
DROP TABLE item;
