-- A claim deletes its items: at most once. See strategies/delete_on_claim.c.

-- name: setup
CREATE TABLE item (id bigint PRIMARY KEY, class varchar(64) NOT NULL, payload text NOT NULL);
CREATE INDEX item_class ON item (class, id);

-- name: put
INSERT INTO item (id, class, payload)
SELECT :id + seq, :class, :payload FROM seq_0_to_99999 WHERE seq < :n;

-- name: claim
DELETE FROM item WHERE class = :class ORDER BY class, id LIMIT :n RETURNING id, payload;

-- The claim has left nothing to end.
-- name: complete

-- name: count
SELECT count(*) AS pending, 0 AS active, 0 AS done, 0 AS failed FROM item WHERE class = :class;

-- name: teardown
DROP TABLE item;
