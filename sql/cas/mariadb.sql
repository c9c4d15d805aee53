-- Read, then a conditional UPDATE by version. See strategies/cas.c.
-- Status: 0 pending, 1 in process, 2 complete, 3 error.

-- name: setup when recurring=no
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class varchar(64) NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0,
    modified datetime(6) NOT NULL DEFAULT SYSDATE(6),
    owner varchar(64),
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, status, modified, id);
CREATE INDEX item_token ON item (token);
-- Without INCREMENT BY 0 a Galera cluster refuses it; elsewhere it counts by one all the same.
CREATE SEQUENCE claim_number INCREMENT BY 0;

-- name: setup when recurring=yes
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class varchar(64) NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0,
    modified datetime(6) NOT NULL DEFAULT SYSDATE(6),
    owner varchar(64),
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, status, modified, id);
CREATE INDEX item_token ON item (token);
-- Without INCREMENT BY 0 a Galera cluster refuses it; elsewhere it counts by one all the same.
CREATE SEQUENCE claim_number INCREMENT BY 0;
CREATE INDEX item_due ON item (class, modified, id);

-- name: put
INSERT INTO item (id, class, payload)
SELECT :id + seq, :class, :payload FROM seq_0_to_99999 WHERE seq < :n;

-- No transaction around the two: the row may have changed since the read, and then the UPDATE finds
-- nothing.
-- name: claim when recurring=no
-- require: row
SELECT id, token
FROM item
WHERE class = :class AND status = 0
ORDER BY modified, id
LIMIT 1;
-- require: row
UPDATE item SET status = 1, modified = SYSDATE(6), owner = :worker, token = token + 1
WHERE id = :id AND status = 0 AND token = :token;
SELECT id, payload, token FROM item WHERE id = :id;

-- Complete items are due again when a period has passed since. A version is claimed once.
-- name: claim when recurring=yes
-- require: row
SELECT id, token
FROM item
WHERE class = :class AND (status = 0 OR (status = 2 AND modified <= SYSDATE(6) - INTERVAL :period_ms * 1000 MICROSECOND))
ORDER BY modified, id
LIMIT 1;
-- require: row
UPDATE item SET status = 1, modified = SYSDATE(6), owner = :worker, token = token + 1
WHERE id = :id AND status IN (0, 2) AND token = :token;
SELECT id, payload, token FROM item WHERE id = :id;

-- name: complete
UPDATE item SET status = 2, modified = SYSDATE(6)
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: error
UPDATE item SET status = 3, modified = SYSDATE(6)
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: free
UPDATE item SET status = 0, modified = SYSDATE(6), owner = NULL
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: clear-error
UPDATE item SET status = 0, modified = SYSDATE(6), owner = NULL
WHERE id = :id AND status = 3;

-- name: clear-all-errors
UPDATE item SET status = 0, modified = SYSDATE(6), owner = NULL
WHERE class = :class AND status = 3;

-- name: reset-all
UPDATE item SET status = 0, modified = SYSDATE(6), owner = NULL
WHERE class = :class AND status = 2;

-- name: recover
UPDATE item SET status = 0, modified = SYSDATE(6), owner = NULL
WHERE class = :class AND status = 1
  AND modified < SYSDATE(6) - INTERVAL :ttl_ms * 1000 MICROSECOND;

-- name: count
SELECT coalesce(sum(status = 0), 0) AS pending,
       coalesce(sum(status = 1), 0) AS active,
       coalesce(sum(status = 2), 0) AS done,
       coalesce(sum(status = 3), 0) AS failed
FROM item
WHERE class = :class;

-- name: teardown
DROP TABLE item;
DROP SEQUENCE claim_number;
