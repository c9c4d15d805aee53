-- Control: consumers share one position. See strategies/offset_claim.c.
-- Status: 0 pending, 1 in process, 2 complete, 3 error.

-- name: setup
CREATE TABLE consumed (class text PRIMARY KEY, position bigint NOT NULL);
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class text NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0,
    owner text,
    claimed timestamptz,
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, id) WHERE status = 0;
CREATE INDEX item_taken ON item (class, owner, id) WHERE status = 1;

-- name: put tx=one
INSERT INTO consumed (class, position) VALUES (:class, 0) ON CONFLICT (class) DO NOTHING;
INSERT INTO item (id, class, payload)
SELECT i, :class, :payload FROM generate_series(:id::bigint, :id + :n - 1) AS i;

-- name: claim tx=one
-- require: row
SELECT 1 FROM consumed WHERE class = :class FOR UPDATE;
-- answer: row
UPDATE item
SET status = 1, owner = :worker, claimed = clock_timestamp(), token = token + 1
WHERE id = ANY (ARRAY (SELECT id
                       FROM item
                       WHERE class = :class AND status = 0
                         AND id > (SELECT position FROM consumed WHERE class = :class)
                       ORDER BY id
                       LIMIT :n))
RETURNING id, payload, token;
UPDATE consumed
SET position = greatest(position, (SELECT max(id) FROM item
                                   WHERE class = :class AND status = 1 AND owner = :worker))
WHERE class = :class;

-- name: complete
UPDATE item SET status = 2
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: error
UPDATE item SET status = 3
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- The position goes back unless another worker has moved it meanwhile.
-- name: free tx=one
UPDATE consumed SET position = :id - 1 WHERE class = :class AND position = :id;
-- require: row
UPDATE item SET status = 0, owner = NULL
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- An operator sets the position back, too.
-- name: clear-error tx=one
-- require: row
UPDATE item SET status = 0, owner = NULL WHERE id = :id AND status = 3;
UPDATE consumed SET position = least(position, :id - 1) WHERE class = :class;

-- name: clear-all-errors tx=one
UPDATE item SET status = 0, owner = NULL WHERE class = :class AND status = 3;
UPDATE consumed SET position = 0 WHERE class = :class;

-- name: reset-all tx=one
UPDATE item SET status = 0, owner = NULL WHERE class = :class AND status = 2;
UPDATE consumed SET position = 0 WHERE class = :class;

-- name: recover tx=one
UPDATE item SET status = 0, owner = NULL
WHERE class = :class AND status = 1 AND claimed < clock_timestamp() - :ttl_ms * interval '1 millisecond';
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
