-- Claims that end by themselves: a visibility timeout. See strategies/lease_queue.c.
-- Status: 0 pending, or in process until visible_at; 2 complete, 3 error.

-- name: setup when recurring=no
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class text NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0,
    visible_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    owner text,
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, visible_at, id) WHERE status = 0;
CREATE INDEX item_owned ON item (class) WHERE status = 0 AND owner IS NOT NULL;

-- name: setup when recurring=yes
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class text NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0,
    visible_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    owner text,
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, visible_at, id) WHERE status = 0;
CREATE INDEX item_owned ON item (class) WHERE status = 0 AND owner IS NOT NULL;
CREATE INDEX item_due ON item (class, visible_at, id) WHERE status IN (0, 2);

-- name: put
INSERT INTO item (id, class, payload)
SELECT i, :class, :payload FROM generate_series(:id::bigint, :id + :n - 1) AS i;

-- name: claim when recurring=no
WITH next AS (
    SELECT id
    FROM item
    WHERE class = :class AND status = 0 AND visible_at <= clock_timestamp()
    ORDER BY visible_at, id
    LIMIT :n
    FOR UPDATE SKIP LOCKED
)
UPDATE item
SET owner = :worker, visible_at = clock_timestamp() + :ttl_ms * interval '1 millisecond', token = token + 1
FROM next
WHERE item.id = next.id
RETURNING item.id, item.payload, item.token;

-- Complete items are visible again when their period is over.
-- name: claim when recurring=yes
WITH next AS (
    SELECT id
    FROM item
    WHERE class = :class AND status IN (0, 2) AND visible_at <= clock_timestamp()
    ORDER BY visible_at, id
    LIMIT :n
    FOR UPDATE SKIP LOCKED
)
UPDATE item
SET status = 0, owner = :worker, visible_at = clock_timestamp() + :ttl_ms * interval '1 millisecond', token = token + 1
FROM next
WHERE item.id = next.id
RETURNING item.id, item.payload, item.token;

-- name: renew when ends=each
UPDATE item SET visible_at = clock_timestamp() + :ttl_ms * interval '1 millisecond'
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token AND visible_at > clock_timestamp();

-- name: renew when ends=batch
UPDATE item SET visible_at = clock_timestamp() + :ttl_ms * interval '1 millisecond'
FROM unnest(:ids::bigint[], :tokens::bigint[]) AS mine (id, token)
WHERE item.id = mine.id AND item.token = mine.token AND item.status = 0 AND item.owner = :worker
      AND item.visible_at > clock_timestamp()
RETURNING item.id;

-- name: complete when recurring=no done=keep ends=each
UPDATE item SET status = 2
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: complete when recurring=no done=keep ends=batch
UPDATE item SET status = 2
FROM unnest(:ids::bigint[], :tokens::bigint[]) AS mine (id, token)
WHERE item.id = mine.id AND item.token = mine.token AND item.status = 0 AND item.owner = :worker
RETURNING item.id;

-- name: complete when recurring=no done=delete ends=each
DELETE FROM item
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: complete when recurring=no done=delete ends=batch
DELETE FROM item
USING unnest(:ids::bigint[], :tokens::bigint[]) AS mine (id, token)
WHERE item.id = mine.id AND item.token = mine.token AND item.status = 0 AND item.owner = :worker
RETURNING item.id;

-- name: complete when recurring=yes done=keep ends=each
UPDATE item SET status = 2, visible_at = clock_timestamp() + :period_ms * interval '1 millisecond'
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: complete when recurring=yes done=keep ends=batch
UPDATE item SET status = 2, visible_at = clock_timestamp() + :period_ms * interval '1 millisecond'
FROM unnest(:ids::bigint[], :tokens::bigint[]) AS mine (id, token)
WHERE item.id = mine.id AND item.token = mine.token AND item.status = 0 AND item.owner = :worker
RETURNING item.id;

-- name: error when ends=each
UPDATE item SET status = 3
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: error when ends=batch
UPDATE item SET status = 3
FROM unnest(:ids::bigint[], :tokens::bigint[]) AS mine (id, token)
WHERE item.id = mine.id AND item.token = mine.token AND item.status = 0 AND item.owner = :worker
RETURNING item.id;

-- name: free when ends=each
UPDATE item SET owner = NULL, visible_at = clock_timestamp()
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: free when ends=batch
UPDATE item SET owner = NULL, visible_at = clock_timestamp()
FROM unnest(:ids::bigint[], :tokens::bigint[]) AS mine (id, token)
WHERE item.id = mine.id AND item.token = mine.token AND item.status = 0 AND item.owner = :worker
RETURNING item.id;

-- name: clear-error
UPDATE item SET status = 0, owner = NULL, visible_at = clock_timestamp()
WHERE id = :id AND status = 3;

-- name: clear-all-errors
UPDATE item SET status = 0, owner = NULL, visible_at = clock_timestamp()
WHERE class = :class AND status = 3;

-- name: reset-all when done=keep
UPDATE item SET status = 0, owner = NULL, visible_at = clock_timestamp()
WHERE class = :class AND status = 2;

-- name: count
SELECT count(*) FILTER (WHERE status = 0 AND visible_at <= clock_timestamp()) AS pending,
       count(*) FILTER (WHERE status = 0 AND visible_at > clock_timestamp()) AS active,
       count(*) FILTER (WHERE status = 2) AS done,
       count(*) FILTER (WHERE status = 3) AS failed
FROM item
WHERE class = :class;

-- Nothing has to be done after a death but to wait; this ends all leases at once.
-- name: recover
UPDATE item SET owner = NULL, visible_at = clock_timestamp()
WHERE class = :class AND status = 0 AND owner IS NOT NULL;

-- name: teardown
DROP TABLE item;
