-- Control: MERGE without a lock on the table. See strategies/merge_unlocked.c.
-- Status: 0 pending, 1 in process, 2 complete, 3 error.

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
CREATE INDEX item_pending ON item (class, modified, id) WHERE status = 0;

-- name: put
INSERT INTO item (id, class, payload)
SELECT i, :class, :payload FROM generate_series(:id::bigint, :id + :n - 1) AS i;

-- Two sessions read the same row; the MERGE of the second waits for the first one's, and then
-- continues with its old read.
-- name: claim tx=one
-- needs: merge
-- require: row
SELECT id FROM item WHERE class = :class AND status = 0 ORDER BY modified, id LIMIT 1;
-- require: row
MERGE INTO item
USING (SELECT :id::bigint AS id) AS one
ON item.id = one.id
WHEN MATCHED THEN
    UPDATE SET status = 1, modified = clock_timestamp(), owner = :worker, token = item.token + 1
WHEN NOT MATCHED THEN DO NOTHING;
SELECT id, payload, token FROM item WHERE id = :id;

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
