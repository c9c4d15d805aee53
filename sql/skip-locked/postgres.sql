-- A queue claimed with SKIP LOCKED. See strategies/skip_locked.c.
-- form says how the sub-select is tied to the UPDATE; form=in is the wrong one.

-- name: setup when form!=in recurring=no
CREATE TABLE item_status (status smallint PRIMARY KEY, name text NOT NULL UNIQUE);
INSERT INTO item_status VALUES (0, 'Pending'), (1, 'In process'), (2, 'Complete'), (3, 'Error');
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class text NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0 REFERENCES item_status,
    status_modified timestamptz NOT NULL DEFAULT clock_timestamp(),
    owner text,
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, status_modified, id) WHERE status = 0;
CREATE INDEX item_active ON item (class, status_modified) WHERE status = 1;

-- name: setup when form!=in recurring=yes
CREATE TABLE item_status (status smallint PRIMARY KEY, name text NOT NULL UNIQUE);
INSERT INTO item_status VALUES (0, 'Pending'), (1, 'In process'), (2, 'Complete'), (3, 'Error');
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class text NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0 REFERENCES item_status,
    status_modified timestamptz NOT NULL DEFAULT clock_timestamp(),
    owner text,
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, status_modified, id) WHERE status = 0;
CREATE INDEX item_active ON item (class, status_modified) WHERE status = 1;
CREATE INDEX item_due ON item (class, status_modified, id) WHERE status IN (0, 2);

-- What form=in needs to go wrong with one session: no primary key, and statistics from when the
-- table was empty, as those of a queue often are. The planner then expects one row, and runs the
-- sub-select once for each that it finds.
-- name: setup when form=in
CREATE TABLE item_status (status smallint PRIMARY KEY, name text NOT NULL UNIQUE);
INSERT INTO item_status VALUES (0, 'Pending'), (1, 'In process'), (2, 'Complete'), (3, 'Error');
CREATE TABLE item (
    id bigint NOT NULL,
    class text NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0 REFERENCES item_status,
    status_modified timestamptz NOT NULL DEFAULT clock_timestamp(),
    owner text,
    token bigint NOT NULL DEFAULT 0
) WITH (autovacuum_enabled = false);
CREATE INDEX item_pending ON item (class, status_modified, id) WHERE status = 0;
INSERT INTO item (id, class, payload) SELECT 0, '', '' FROM generate_series(1, 1000);
DELETE FROM item;
ANALYZE item;

-- name: put
INSERT INTO item (id, class, payload)
SELECT i, :class, :payload FROM generate_series(:id::bigint, :id + :n - 1) AS i;

-- name: claim when form=cte recurring=no
WITH next AS (
    SELECT id
    FROM item
    WHERE class = :class AND status = 0
    ORDER BY status_modified, id
    LIMIT :n
    FOR UPDATE SKIP LOCKED
)
UPDATE item
SET status = 1, status_modified = clock_timestamp(), owner = :worker, token = token + 1
FROM next
WHERE item.id = next.id
RETURNING item.id, item.payload, item.token;

-- Complete items are due again when a period has passed since.
-- name: claim when form=cte recurring=yes
WITH next AS (
    SELECT id
    FROM item
    WHERE class = :class
              AND (status = 0 OR (status = 2 AND status_modified <= clock_timestamp() - :period_ms * interval '1 millisecond'))
    ORDER BY status_modified, id
    LIMIT :n
    FOR UPDATE SKIP LOCKED
)
UPDATE item
SET status = 1, status_modified = clock_timestamp(), owner = :worker, token = token + 1
FROM next
WHERE item.id = next.id
RETURNING item.id, item.payload, item.token;

-- name: claim when form=eq recurring=no
UPDATE item
SET status = 1, status_modified = clock_timestamp(), owner = :worker, token = token + 1
WHERE id = (SELECT id
            FROM item
            WHERE class = :class AND status = 0
            ORDER BY status_modified, id
            LIMIT 1
            FOR UPDATE SKIP LOCKED)
RETURNING id, payload, token;

-- name: claim when form=any recurring=no
UPDATE item
SET status = 1, status_modified = clock_timestamp(), owner = :worker, token = token + 1
WHERE id = ANY (ARRAY (SELECT id
                       FROM item
                       WHERE class = :class AND status = 0
                       ORDER BY status_modified, id
                       LIMIT :n
                       FOR UPDATE SKIP LOCKED))
RETURNING id, payload, token;

-- name: claim when form=in recurring=no
UPDATE item
SET status = 1, status_modified = clock_timestamp(), owner = :worker, token = token + 1
WHERE id IN (SELECT id
             FROM item
             WHERE class = :class AND status = 0
             ORDER BY status_modified, id
             LIMIT :n
             FOR UPDATE SKIP LOCKED)
RETURNING id, payload, token;

-- name: complete when done=keep ends=each
UPDATE item SET status = 2, status_modified = clock_timestamp()
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: complete when done=keep ends=batch
UPDATE item SET status = 2, status_modified = clock_timestamp()
FROM unnest(:ids::bigint[], :tokens::bigint[]) AS mine (id, token)
WHERE item.id = mine.id AND item.token = mine.token AND item.status = 1 AND item.owner = :worker
RETURNING item.id;

-- name: complete when done=delete ends=each
DELETE FROM item
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: complete when done=delete ends=batch
DELETE FROM item
USING unnest(:ids::bigint[], :tokens::bigint[]) AS mine (id, token)
WHERE item.id = mine.id AND item.token = mine.token AND item.status = 1 AND item.owner = :worker
RETURNING item.id;

-- name: error when ends=each
UPDATE item SET status = 3, status_modified = clock_timestamp()
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: error when ends=batch
UPDATE item SET status = 3, status_modified = clock_timestamp()
FROM unnest(:ids::bigint[], :tokens::bigint[]) AS mine (id, token)
WHERE item.id = mine.id AND item.token = mine.token AND item.status = 1 AND item.owner = :worker
RETURNING item.id;

-- name: free when ends=each
UPDATE item SET status = 0, status_modified = clock_timestamp(), owner = NULL
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: free when ends=batch
UPDATE item SET status = 0, status_modified = clock_timestamp(), owner = NULL
FROM unnest(:ids::bigint[], :tokens::bigint[]) AS mine (id, token)
WHERE item.id = mine.id AND item.token = mine.token AND item.status = 1 AND item.owner = :worker
RETURNING item.id;

-- name: clear-error
UPDATE item SET status = 0, status_modified = clock_timestamp(), owner = NULL
WHERE id = :id AND status = 3;

-- name: clear-all-errors
UPDATE item SET status = 0, status_modified = clock_timestamp(), owner = NULL
WHERE class = :class AND status = 3;

-- name: reset-all when done=keep
UPDATE item SET status = 0, status_modified = clock_timestamp(), owner = NULL
WHERE class = :class AND status = 2;

-- name: recover
UPDATE item SET status = 0, status_modified = clock_timestamp(), owner = NULL
WHERE class = :class AND status = 1
  AND status_modified < clock_timestamp() - :ttl_ms * interval '1 millisecond';

-- name: count
SELECT count(*) FILTER (WHERE status = 0) AS pending,
       count(*) FILTER (WHERE status = 1) AS active,
       count(*) FILTER (WHERE status = 2) AS done,
       count(*) FILTER (WHERE status = 3) AS failed
FROM item
WHERE class = :class;

-- name: teardown
DROP TABLE item, item_status;
