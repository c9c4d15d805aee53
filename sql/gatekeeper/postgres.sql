-- A claim inside of an advisory lock. See strategies/gatekeeper.c.
-- Status: 0 pending, 1 in process, 2 complete, 3 error.

-- name: setup when recurring=no
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class text NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0,
    modified timestamptz NOT NULL DEFAULT clock_timestamp(),
    owner text,
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, modified, id) WHERE status = 0;
CREATE INDEX item_active ON item (class, modified) WHERE status = 1;

-- name: setup when recurring=yes
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class text NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0,
    modified timestamptz NOT NULL DEFAULT clock_timestamp(),
    owner text,
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, modified, id) WHERE status = 0;
CREATE INDEX item_active ON item (class, modified) WHERE status = 1;
CREATE INDEX item_due ON item (class, modified, id) WHERE status IN (0, 2);

-- name: put
INSERT INTO item (id, class, payload)
SELECT i, :class, :payload FROM generate_series(:id::bigint, :id + :n - 1) AS i;

-- The lock ends with the COMMIT, when what it guarded is visible to the next one.
-- name: claim when form=commit recurring=no tx=one
SELECT pg_advisory_xact_lock(:space_no::int, 0);
UPDATE item
SET status = 1, modified = clock_timestamp(), owner = :worker, token = token + 1
WHERE id IN (SELECT id
             FROM item
             WHERE class = :class AND status = 0
             ORDER BY modified, id
             LIMIT :n)
RETURNING id, payload, token;

-- Complete items are due again when a period has passed since.
-- name: claim when form=commit recurring=yes tx=one
SELECT pg_advisory_xact_lock(:space_no::int, 0);
UPDATE item
SET status = 1, modified = clock_timestamp(), owner = :worker, token = token + 1
WHERE id IN (SELECT id
             FROM item
             WHERE class = :class
             AND (status = 0 OR (status = 2 AND modified <= clock_timestamp() - :period_ms * interval '1 millisecond'))
             ORDER BY modified, id
             LIMIT :n)
RETURNING id, payload, token;

-- As published: sp_releaseapplock comes before the COMMIT. The next session through the gate does
-- not see yet that the row was taken; the hints, READPAST, ROWLOCK and UPDLOCK, keep it from the
-- same row.
-- name: claim when form=published recurring=no tx=one
SELECT pg_advisory_lock(:space_no::int, 0);
-- answer: row
WITH next AS (
    SELECT id
    FROM item
    WHERE class = :class AND status = 0
    ORDER BY modified, id
    LIMIT :n
    FOR UPDATE SKIP LOCKED
)
UPDATE item
SET status = 1, modified = clock_timestamp(), owner = :worker, token = token + 1
FROM next
WHERE item.id = next.id
RETURNING item.id, item.payload, item.token;
SELECT pg_advisory_unlock_all();

-- name: claim when form=published recurring=yes tx=one
SELECT pg_advisory_lock(:space_no::int, 0);
-- answer: row
WITH next AS (
    SELECT id
    FROM item
    WHERE class = :class AND (status = 0 OR (status = 2 AND modified <= clock_timestamp() - :period_ms * interval '1 millisecond'))
    ORDER BY modified, id
    LIMIT :n
    FOR UPDATE SKIP LOCKED
)
UPDATE item
SET status = 1, modified = clock_timestamp(), owner = :worker, token = token + 1
FROM next
WHERE item.id = next.id
RETURNING item.id, item.payload, item.token;
SELECT pg_advisory_unlock_all();

-- name: complete
UPDATE item SET status = 2, modified = clock_timestamp()
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: error
UPDATE item SET status = 3, modified = clock_timestamp()
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: free
UPDATE item SET status = 0, modified = clock_timestamp(), owner = NULL
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: clear-error
UPDATE item SET status = 0, modified = clock_timestamp(), owner = NULL
WHERE id = :id AND status = 3;

-- name: clear-all-errors
UPDATE item SET status = 0, modified = clock_timestamp(), owner = NULL
WHERE class = :class AND status = 3;

-- name: reset-all
UPDATE item SET status = 0, modified = clock_timestamp(), owner = NULL
WHERE class = :class AND status = 2;

-- name: recover
UPDATE item SET status = 0, modified = clock_timestamp(), owner = NULL
WHERE class = :class AND status = 1
  AND modified < clock_timestamp() - :ttl_ms * interval '1 millisecond';

-- name: count
SELECT count(*) FILTER (WHERE status = 0) AS pending,
       count(*) FILTER (WHERE status = 1) AS active,
       count(*) FILTER (WHERE status = 2) AS done,
       count(*) FILTER (WHERE status = 3) AS failed
FROM item
WHERE class = :class;

-- name: teardown
DROP TABLE item;
