-- A claim deletes its items: at most once. See strategies/delete_on_claim.c.

-- name: setup
CREATE TABLE item (id bigint PRIMARY KEY, class text NOT NULL, payload text NOT NULL);
CREATE INDEX item_class ON item (class, id);

-- name: put
INSERT INTO item (id, class, payload)
SELECT i, :class, :payload FROM generate_series(:id::bigint, :id + :n - 1) AS i;

-- name: claim
WITH next AS (
    SELECT id
    FROM item
    WHERE class = :class
    ORDER BY id
    LIMIT :n
    FOR UPDATE SKIP LOCKED
)
DELETE FROM item
USING next
WHERE item.id = next.id
RETURNING item.id, item.payload;

-- The claim has left nothing to end.
-- name: complete

-- name: count
SELECT count(*) AS pending, 0 AS active, 0 AS done, 0 AS failed FROM item WHERE class = :class;

-- name: teardown
DROP TABLE item;
