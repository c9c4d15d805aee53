-- Claims that end by themselves, with a maximum of attempts. See strategies/lease_attempts.c.
-- Status: 0 pending, or in process until visible_at; 1 stranded; 2 complete; 3 dead letter.
-- attempts: most

-- name: setup
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class text NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0,
    visible_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    owner text,
    token bigint NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, visible_at, id) WHERE status = 0;

-- name: put
INSERT INTO item (id, class, payload)
SELECT i, :class, :payload FROM generate_series(:id::bigint, :id + :n - 1) AS i;

-- name: claim when counted=at-claim
WITH next AS (
    SELECT id
    FROM item
    WHERE class = :class AND status = 0 AND visible_at <= clock_timestamp() AND attempts < :most
    ORDER BY visible_at, id
    LIMIT :n
    FOR UPDATE SKIP LOCKED
)
UPDATE item
SET owner = :worker, visible_at = clock_timestamp() + :ttl_ms * interval '1 millisecond', token = token + 1, attempts = attempts + 1
FROM next
WHERE item.id = next.id
RETURNING item.id, item.payload, item.token;

-- name: claim when counted=at-end|never
WITH next AS (
    SELECT id
    FROM item
    WHERE class = :class AND status = 0 AND visible_at <= clock_timestamp() AND attempts < :most
    ORDER BY visible_at, id
    LIMIT :n
    FOR UPDATE SKIP LOCKED
)
UPDATE item
SET owner = :worker, visible_at = clock_timestamp() + :ttl_ms * interval '1 millisecond', token = token + 1
FROM next
WHERE item.id = next.id
RETURNING item.id, item.payload, item.token;

-- name: renew
UPDATE item SET visible_at = clock_timestamp() + :ttl_ms * interval '1 millisecond'
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token AND visible_at > clock_timestamp();

-- name: complete when ended=own
UPDATE item SET status = 2
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: complete when ended=any
UPDATE item SET status = 2
WHERE id = :id AND status = 0 AND owner IS NOT NULL;

-- The last attempt makes a dead letter of it.
-- name: retry when counted=at-claim|never
UPDATE item
SET status = CASE WHEN attempts >= :most THEN 3 ELSE 0 END,
    owner = NULL, visible_at = clock_timestamp() + :delay_ms * interval '1 millisecond'
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: retry when counted=at-end
UPDATE item
SET status = CASE WHEN attempts + 1 >= :most THEN 3 ELSE 0 END,
    owner = NULL, visible_at = clock_timestamp() + :delay_ms * interval '1 millisecond', attempts = attempts + 1
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- No attempt would help: a dead letter at once.
-- name: error
UPDATE item SET status = 3
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: stop when stops=gives-back
UPDATE item SET owner = NULL, visible_at = clock_timestamp()
WHERE class = :class AND status = 0 AND owner = :worker;

-- name: stop when stops=drops
UPDATE item SET status = 1, owner = NULL
WHERE class = :class AND status = 0 AND owner = :worker;

-- name: clear-error
UPDATE item SET status = 0, owner = NULL, visible_at = clock_timestamp(), attempts = 0
WHERE id = :id AND status = 3;

-- name: clear-all-errors
UPDATE item SET status = 0, owner = NULL, visible_at = clock_timestamp(), attempts = 0
WHERE class = :class AND status = 3;

-- name: reset-all
UPDATE item SET status = 0, owner = NULL, visible_at = clock_timestamp(), attempts = 0
WHERE class = :class AND status = 2;

-- name: count
SELECT count(*) FILTER (WHERE status = 0 AND visible_at <= clock_timestamp() AND attempts < :most) AS pending,
       count(*) FILTER (WHERE status = 0 AND visible_at > clock_timestamp()) AS active,
       count(*) FILTER (WHERE status = 2) AS done,
       count(*) FILTER (WHERE status = 3 OR (status = 0 AND visible_at <= clock_timestamp() AND attempts >= :most)) AS failed
FROM item
WHERE class = :class;

-- An item whose last claim was not ended is a dead letter.
-- name: recover when recovered=kept
UPDATE item SET status = 3, owner = NULL
WHERE class = :class AND status = 0 AND visible_at <= clock_timestamp() AND attempts >= :most;

-- name: recover when recovered=reset
UPDATE item SET owner = NULL, attempts = 0
WHERE class = :class AND status = 0 AND visible_at <= clock_timestamp() AND owner IS NOT NULL;

-- name: teardown
DROP TABLE item;
