-- A walk along the index that stops at the first lock it gets. See strategies/advisory_claim.c.
-- Status: 0 pending or in process, 2 complete, 3 error. The holder of the lock has the item.

-- name: setup
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class text NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0,
    modified timestamptz NOT NULL DEFAULT clock_timestamp(),
    owner text,
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, id) WHERE status = 0;

-- name: put
INSERT INTO item (id, class, payload)
SELECT i, :class, :payload FROM generate_series(:id::bigint, :id + :n - 1) AS i;

-- The walk reads one snapshot, and a lock that it gets may have been given up, with the item done,
-- since: the item is looked at again with the lock held. If it is gone the lock goes as well.
-- name: claim session=keep
-- require: row
WITH RECURSIVE walk AS (
    SELECT (first).id, pg_try_advisory_lock(:space_no::int, (first).id::int) AS locked
    FROM (SELECT first
          FROM item AS first
          WHERE class = :class AND status = 0 AND owner IS DISTINCT FROM :worker
          ORDER BY id
          LIMIT 1) AS start
    UNION ALL
    SELECT (next).id, pg_try_advisory_lock(:space_no::int, (next).id::int) AS locked
    FROM (SELECT (SELECT next
                  FROM item AS next
                  WHERE class = :class AND status = 0 AND owner IS DISTINCT FROM :worker
                    AND id > walk.id
                  ORDER BY id
                  LIMIT 1) AS next
          FROM walk
          WHERE NOT walk.locked
          LIMIT 1) AS step
    WHERE (next).id IS NOT NULL
)
SELECT id FROM walk WHERE locked LIMIT 1;
-- answer: row
UPDATE item SET owner = :worker, token = token + 1
WHERE id = :id AND status = 0
RETURNING id, payload, token;
SELECT pg_advisory_unlock(:space_no::int, :id::int)
WHERE NOT EXISTS (SELECT 1 FROM item WHERE id = :id AND status = 0 AND owner = :worker);

-- name: complete
-- answer: row
UPDATE item SET status = 2, modified = clock_timestamp()
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;
SELECT pg_advisory_unlock(:space_no::int, :id::int)
WHERE EXISTS (SELECT 1 FROM item WHERE id = :id AND status = 2 AND owner = :worker AND token = :token);

-- name: error
-- answer: row
UPDATE item SET status = 3, modified = clock_timestamp()
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;
SELECT pg_advisory_unlock(:space_no::int, :id::int)
WHERE EXISTS (SELECT 1 FROM item WHERE id = :id AND status = 3 AND owner = :worker AND token = :token);

-- name: free
-- answer: row
UPDATE item SET owner = NULL
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;
SELECT pg_advisory_unlock(:space_no::int, :id::int)
WHERE EXISTS (SELECT 1 FROM item WHERE id = :id AND status = 0 AND owner IS NULL);

-- name: clear-error
UPDATE item SET status = 0, modified = clock_timestamp(), owner = NULL
WHERE id = :id AND status = 3;

-- name: clear-all-errors
UPDATE item SET status = 0, modified = clock_timestamp(), owner = NULL
WHERE class = :class AND status = 3;

-- name: reset-all
UPDATE item SET status = 0, modified = clock_timestamp(), owner = NULL
WHERE class = :class AND status = 2;

-- name: count
SELECT count(*) FILTER (WHERE status = 0 AND owner IS NULL) AS pending,
       count(*) FILTER (WHERE status = 0 AND owner IS NOT NULL) AS active,
       count(*) FILTER (WHERE status = 2) AS done,
       count(*) FILTER (WHERE status = 3) AS failed
FROM item
WHERE class = :class;

-- A lock that a dead client has left is its session's, which an operator ends.
-- name: recover
SELECT pg_terminate_backend(pid)
FROM pg_locks
WHERE locktype = 'advisory' AND classid = :space_no::int::oid AND objsubid = 2 AND granted
  AND pid IN (SELECT pid FROM pg_stat_activity
              WHERE state = 'idle' AND state_change < clock_timestamp() - :ttl_ms * interval '1 millisecond');

-- name: teardown
DROP TABLE item;
