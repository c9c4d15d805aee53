-- A queue claimed with SKIP LOCKED. See strategies/skip_locked.c.
-- UPDATE returns no rows in MariaDB: the claim is numbered from a sequence, and read back by its number.
-- The derived table replaces the CTE of other engines; the forms are the same here.

-- name: setup when recurring=no
CREATE TABLE item_status (status smallint PRIMARY KEY, name varchar(64) NOT NULL UNIQUE);
INSERT INTO item_status VALUES (0, 'Pending'), (1, 'In process'), (2, 'Complete'), (3, 'Error');
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class varchar(64) NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0 REFERENCES item_status (status),
    status_modified datetime(6) NOT NULL DEFAULT SYSDATE(6),
    owner varchar(64),
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, status, status_modified, id);
CREATE INDEX item_token ON item (token);
-- Without INCREMENT BY 0 a Galera cluster refuses it; elsewhere it counts by one all the same.
CREATE SEQUENCE claim_number INCREMENT BY 0;

-- name: setup when recurring=yes
CREATE TABLE item_status (status smallint PRIMARY KEY, name varchar(64) NOT NULL UNIQUE);
INSERT INTO item_status VALUES (0, 'Pending'), (1, 'In process'), (2, 'Complete'), (3, 'Error');
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class varchar(64) NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0 REFERENCES item_status (status),
    status_modified datetime(6) NOT NULL DEFAULT SYSDATE(6),
    owner varchar(64),
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, status, status_modified, id);
CREATE INDEX item_token ON item (token);
-- Without INCREMENT BY 0 a Galera cluster refuses it; elsewhere it counts by one all the same.
CREATE SEQUENCE claim_number INCREMENT BY 0;
CREATE INDEX item_due ON item (class, status_modified, id);

-- name: put
INSERT INTO item (id, class, payload)
SELECT :id + seq, :class, :payload FROM seq_0_to_99999 WHERE seq < :n;

-- name: claim when form!=update recurring=no tx=one
-- require: row
UPDATE item
JOIN (SELECT id
      FROM item
      WHERE class = :class AND status = 0
      ORDER BY status_modified, id
      LIMIT :n
      FOR UPDATE SKIP LOCKED) AS next USING (id)
JOIN (SELECT LAST_INSERT_ID(NEXTVAL(claim_number)) AS number) AS this
SET status = 1, status_modified = SYSDATE(6), owner = :worker, token = this.number;
SELECT id, payload, token FROM item WHERE token = LAST_INSERT_ID();

-- Complete items are due again when a period has passed since.
-- name: claim when form!=update recurring=yes tx=one
-- require: row
UPDATE item
JOIN (SELECT id
      FROM item
      WHERE class = :class
            AND (status = 0 OR (status = 2 AND status_modified <= SYSDATE(6) - INTERVAL :period_ms * 1000 MICROSECOND))
      ORDER BY status_modified, id
      LIMIT :n
      FOR UPDATE SKIP LOCKED) AS next USING (id)
JOIN (SELECT LAST_INSERT_ID(NEXTVAL(claim_number)) AS number) AS this
SET status = 1, status_modified = SYSDATE(6), owner = :worker, token = this.number;
SELECT id, payload, token FROM item WHERE token = LAST_INSERT_ID();

-- UPDATE TOP (1) by itself, without an order: one statement that locks what it changes, and waits for it.
-- name: claim when form=update recurring=no tx=one
-- require: row
UPDATE item
SET status = 1, status_modified = SYSDATE(6), owner = :worker,
    token = LAST_INSERT_ID(NEXTVAL(claim_number))
WHERE class = :class AND status = 0
LIMIT 1;
SELECT id, payload, token FROM item WHERE token = LAST_INSERT_ID();

-- name: complete when done=keep ends=each
UPDATE item SET status = 2, status_modified = SYSDATE(6)
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: complete when done=keep ends=batch tx=one
-- require: row
UPDATE JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
SET status = 2, status_modified = SYSDATE(6)
WHERE item.status = 1 AND item.owner = :worker;
SELECT item.id
FROM JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
WHERE item.status = 2 AND item.owner = :worker;

-- name: complete when done=delete ends=each
DELETE FROM item
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- DELETE from a join returns no rows in MariaDB: they are locked and read first.
-- name: complete when done=delete ends=batch tx=one
-- answer: row
SELECT item.id
FROM JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
WHERE item.status = 1 AND item.owner = :worker
FOR UPDATE;
DELETE item
FROM JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
WHERE item.status = 1 AND item.owner = :worker;

-- name: error when ends=each
UPDATE item SET status = 3, status_modified = SYSDATE(6)
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: error when ends=batch tx=one
-- require: row
UPDATE JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
SET status = 3, status_modified = SYSDATE(6)
WHERE item.status = 1 AND item.owner = :worker;
SELECT item.id
FROM JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
WHERE item.status = 3 AND item.owner = :worker;

-- name: free when ends=each
UPDATE item SET status = 0, status_modified = SYSDATE(6), owner = NULL
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: free when ends=batch
UPDATE JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
SET status = 0, status_modified = SYSDATE(6), owner = NULL
WHERE item.status = 1 AND item.owner = :worker;

-- name: clear-error
UPDATE item SET status = 0, status_modified = SYSDATE(6), owner = NULL
WHERE id = :id AND status = 3;

-- name: clear-all-errors
UPDATE item SET status = 0, status_modified = SYSDATE(6), owner = NULL
WHERE class = :class AND status = 3;

-- name: reset-all when done=keep
UPDATE item SET status = 0, status_modified = SYSDATE(6), owner = NULL
WHERE class = :class AND status = 2;

-- name: recover
UPDATE item SET status = 0, status_modified = SYSDATE(6), owner = NULL
WHERE class = :class AND status = 1
  AND status_modified < SYSDATE(6) - INTERVAL :ttl_ms * 1000 MICROSECOND;

-- name: count
SELECT coalesce(sum(status = 0), 0) AS pending,
       coalesce(sum(status = 1), 0) AS active,
       coalesce(sum(status = 2), 0) AS done,
       coalesce(sum(status = 3), 0) AS failed
FROM item
WHERE class = :class;

-- name: teardown
DROP TABLE item;
DROP TABLE item_status;
DROP SEQUENCE claim_number;
