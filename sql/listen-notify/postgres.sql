-- SKIP LOCKED by group, with a bell. See strategies/listen_notify.c.
-- Status: 0 pending, 1 in process, 2 complete, 3 error.

-- name: setup when recurring=no
CREATE TABLE item_group (
    class text NOT NULL,
    group_no int NOT NULL,
    owner text,
    served timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (class, group_no)
);
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class text NOT NULL,
    group_no int NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0,
    modified timestamptz NOT NULL DEFAULT clock_timestamp(),
    owner text,
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, group_no, modified, id) WHERE status = 0;
CREATE INDEX item_active ON item (class, group_no) WHERE status = 1;

-- name: setup when recurring=yes
CREATE TABLE item_group (
    class text NOT NULL,
    group_no int NOT NULL,
    owner text,
    served timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (class, group_no)
);
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class text NOT NULL,
    group_no int NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0,
    modified timestamptz NOT NULL DEFAULT clock_timestamp(),
    owner text,
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, group_no, modified, id) WHERE status = 0;
CREATE INDEX item_active ON item (class, group_no) WHERE status = 1;
CREATE INDEX item_due ON item (class, group_no, modified, id) WHERE status IN (0, 2);

-- The groups are made first, in their order, and their rows are let go before the bell, which waits
-- for other transactions that ring it.
-- name: put tx=one
INSERT INTO item_group (class, group_no)
SELECT DISTINCT :class, (i % :groups)::int FROM generate_series(:id::bigint, :id + :n - 1) AS i
ORDER BY 2
ON CONFLICT DO NOTHING;
-- answer: row
INSERT INTO item (id, class, group_no, payload)
SELECT i, :class, (i % :groups)::int, :payload
FROM generate_series(:id::bigint, :id + :n - 1) AS i;
SELECT pg_notify('lockbench_' || :space_no::int, '');

-- name: claim when recurring=no tx=one
-- require: row
SELECT group_no
FROM item_group AS one
WHERE class = :class AND owner IS NULL
  AND EXISTS (SELECT 1
              FROM item
              WHERE item.class = one.class AND item.group_no = one.group_no AND status = 0)
ORDER BY served
LIMIT 1
FOR UPDATE SKIP LOCKED;
UPDATE item_group SET owner = :worker, served = clock_timestamp()
WHERE class = :class AND group_no = :group_no;
WITH next AS (
    SELECT id
    FROM item
    WHERE class = :class AND group_no = :group_no AND status = 0
    ORDER BY modified, id
    LIMIT :n
    FOR UPDATE
)
UPDATE item
SET status = 1, modified = clock_timestamp(), owner = :worker, token = token + 1
FROM next
WHERE item.id = next.id
RETURNING item.id, item.payload, item.token;

-- Complete items are due again when a period has passed since. Nothing rings for them.
-- name: claim when recurring=yes tx=one
-- require: row
SELECT group_no
FROM item_group AS one
WHERE class = :class AND owner IS NULL
  AND EXISTS (SELECT 1
              FROM item
              WHERE item.class = one.class AND item.group_no = one.group_no
                AND (status = 0 OR (status = 2 AND modified <= clock_timestamp() - :period_ms * interval '1 millisecond')))
ORDER BY served
LIMIT 1
FOR UPDATE SKIP LOCKED;
UPDATE item_group SET owner = :worker, served = clock_timestamp()
WHERE class = :class AND group_no = :group_no;
WITH next AS (
    SELECT id
    FROM item
    WHERE class = :class AND group_no = :group_no
      AND (status = 0 OR (status = 2 AND modified <= clock_timestamp() - :period_ms * interval '1 millisecond'))
    ORDER BY modified, id
    LIMIT :n
    FOR UPDATE
)
UPDATE item
SET status = 1, modified = clock_timestamp(), owner = :worker, token = token + 1
FROM next
WHERE item.id = next.id
RETURNING item.id, item.payload, item.token;

-- The last item of a claim gives the group back, and rings if it has more.
-- name: complete tx=one
-- answer: row
UPDATE item SET status = 2, modified = clock_timestamp()
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;
UPDATE item_group SET owner = NULL
WHERE class = :class AND group_no = :group_no AND owner = :worker
  AND NOT EXISTS (SELECT 1
                  FROM item
                  WHERE class = :class AND group_no = :group_no AND status = 1);
SELECT pg_notify('lockbench_' || :space_no::int, '')
WHERE EXISTS (SELECT 1
              FROM item
              WHERE class = :class AND group_no = :group_no AND status = 0);

-- name: error tx=one
-- answer: row
UPDATE item SET status = 3, modified = clock_timestamp()
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;
UPDATE item_group SET owner = NULL
WHERE class = :class AND group_no = :group_no AND owner = :worker
  AND NOT EXISTS (SELECT 1
                  FROM item
                  WHERE class = :class AND group_no = :group_no AND status = 1);
SELECT pg_notify('lockbench_' || :space_no::int, '')
WHERE EXISTS (SELECT 1
              FROM item
              WHERE class = :class AND group_no = :group_no AND status = 0);

-- name: free tx=one
-- answer: row
UPDATE item SET status = 0, modified = clock_timestamp(), owner = NULL
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;
UPDATE item_group SET owner = NULL
WHERE class = :class AND group_no = :group_no AND owner = :worker
  AND NOT EXISTS (SELECT 1
                  FROM item
                  WHERE class = :class AND group_no = :group_no AND status = 1);
SELECT pg_notify('lockbench_' || :space_no::int, '')
WHERE EXISTS (SELECT 1
              FROM item
              WHERE class = :class AND group_no = :group_no AND status = 0);

-- name: clear-error
UPDATE item SET status = 0, modified = clock_timestamp(), owner = NULL
WHERE id = :id AND status = 3;

-- name: clear-all-errors
UPDATE item SET status = 0, modified = clock_timestamp(), owner = NULL
WHERE class = :class AND status = 3;

-- name: reset-all
UPDATE item SET status = 0, modified = clock_timestamp(), owner = NULL
WHERE class = :class AND status = 2;

-- name: recover tx=one
UPDATE item SET status = 0, modified = clock_timestamp(), owner = NULL
WHERE class = :class AND status = 1
  AND modified < clock_timestamp() - :ttl_ms * interval '1 millisecond';
UPDATE item_group SET owner = NULL
WHERE class = :class AND owner IS NOT NULL
  AND NOT EXISTS (SELECT 1
                  FROM item
                  WHERE item.class = item_group.class AND item.group_no = item_group.group_no
                    AND status = 1);

-- name: count
SELECT count(*) FILTER (WHERE status = 0) AS pending,
       count(*) FILTER (WHERE status = 1) AS active,
       count(*) FILTER (WHERE status = 2) AS done,
       count(*) FILTER (WHERE status = 3) AS failed
FROM item
WHERE class = :class;

-- name: teardown
DROP TABLE item, item_group;
