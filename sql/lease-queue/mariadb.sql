-- Claims that end by themselves: a visibility timeout. See strategies/lease_queue.c.
-- Status: 0 pending, or in process until visible_at; 2 complete, 3 error.

-- name: setup when recurring=no
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class varchar(64) NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0,
    visible_at datetime(6) NOT NULL DEFAULT SYSDATE(6),
    owner varchar(64),
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, status, visible_at, id);
CREATE INDEX item_token ON item (token);
-- Without INCREMENT BY 0 a Galera cluster refuses it; elsewhere it counts by one all the same.
CREATE SEQUENCE claim_number INCREMENT BY 0;

-- name: setup when recurring=yes
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class varchar(64) NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0,
    visible_at datetime(6) NOT NULL DEFAULT SYSDATE(6),
    owner varchar(64),
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, status, visible_at, id);
CREATE INDEX item_token ON item (token);
-- Without INCREMENT BY 0 a Galera cluster refuses it; elsewhere it counts by one all the same.
CREATE SEQUENCE claim_number INCREMENT BY 0;
CREATE INDEX item_due ON item (class, visible_at, id);

-- name: put
INSERT INTO item (id, class, payload)
SELECT :id + seq, :class, :payload FROM seq_0_to_99999 WHERE seq < :n;

-- name: claim when recurring=no tx=one
-- require: row
UPDATE item
JOIN (SELECT id
      FROM item
      WHERE class = :class AND status = 0 AND visible_at <= SYSDATE(6)
      ORDER BY visible_at, id
      LIMIT :n
      FOR UPDATE SKIP LOCKED) AS next USING (id)
JOIN (SELECT LAST_INSERT_ID(NEXTVAL(claim_number)) AS number) AS this
SET owner = :worker, visible_at = SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND, token = this.number;
SELECT id, payload, token FROM item WHERE token = LAST_INSERT_ID();

-- Complete items are visible again when their period is over.
-- name: claim when recurring=yes tx=one
-- require: row
UPDATE item
JOIN (SELECT id
      FROM item
      WHERE class = :class AND status IN (0, 2) AND visible_at <= SYSDATE(6)
      ORDER BY visible_at, id
      LIMIT :n
      FOR UPDATE SKIP LOCKED) AS next USING (id)
JOIN (SELECT LAST_INSERT_ID(NEXTVAL(claim_number)) AS number) AS this
SET status = 0, owner = :worker, visible_at = SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND, token = this.number;
SELECT id, payload, token FROM item WHERE token = LAST_INSERT_ID();

-- name: renew when ends=each
UPDATE item SET visible_at = SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token AND visible_at > SYSDATE(6);

-- Leases that the UPDATE skipped were over by then, and are over when they are read back.
-- name: renew when ends=batch tx=one
-- require: row
UPDATE JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
SET visible_at = SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND
WHERE item.status = 0 AND item.owner = :worker AND item.visible_at > SYSDATE(6);
SELECT item.id
FROM JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
WHERE item.status = 0 AND item.owner = :worker AND item.visible_at > SYSDATE(6);

-- name: complete when recurring=no done=keep ends=each
UPDATE item SET status = 2
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: complete when recurring=no done=keep ends=batch tx=one
-- require: row
UPDATE JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
SET status = 2
WHERE item.status = 0 AND item.owner = :worker;
SELECT item.id
FROM JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
WHERE item.status = 2 AND item.owner = :worker;

-- name: complete when recurring=no done=delete ends=each
DELETE FROM item
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- DELETE from a join returns no rows in MariaDB: they are locked and read first.
-- name: complete when recurring=no done=delete ends=batch tx=one
-- answer: row
SELECT item.id
FROM JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
WHERE item.status = 0 AND item.owner = :worker
FOR UPDATE;
DELETE item
FROM JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
WHERE item.status = 0 AND item.owner = :worker;

-- name: complete when recurring=yes done=keep ends=each
UPDATE item SET status = 2, visible_at = SYSDATE(6) + INTERVAL :period_ms * 1000 MICROSECOND
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: complete when recurring=yes done=keep ends=batch tx=one
-- require: row
UPDATE JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
SET status = 2, visible_at = SYSDATE(6) + INTERVAL :period_ms * 1000 MICROSECOND
WHERE item.status = 0 AND item.owner = :worker;
SELECT item.id
FROM JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
WHERE item.status = 2 AND item.owner = :worker;

-- name: error when ends=each
UPDATE item SET status = 3
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: error when ends=batch tx=one
-- require: row
UPDATE JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
SET status = 3
WHERE item.status = 0 AND item.owner = :worker;
SELECT item.id
FROM JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
WHERE item.status = 3 AND item.owner = :worker;

-- name: free when ends=each
UPDATE item SET owner = NULL, visible_at = SYSDATE(6)
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: free when ends=batch
UPDATE JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id', token bigint PATH '$.token')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id AND item.token = mine.token
SET owner = NULL, visible_at = SYSDATE(6)
WHERE item.status = 0 AND item.owner = :worker;

-- name: clear-error
UPDATE item SET status = 0, owner = NULL, visible_at = SYSDATE(6)
WHERE id = :id AND status = 3;

-- name: clear-all-errors
UPDATE item SET status = 0, owner = NULL, visible_at = SYSDATE(6)
WHERE class = :class AND status = 3;

-- name: reset-all when done=keep
UPDATE item SET status = 0, owner = NULL, visible_at = SYSDATE(6)
WHERE class = :class AND status = 2;

-- name: count
SELECT coalesce(sum(status = 0 AND visible_at <= SYSDATE(6)), 0) AS pending,
       coalesce(sum(status = 0 AND visible_at > SYSDATE(6)), 0) AS active,
       coalesce(sum(status = 2), 0) AS done,
       coalesce(sum(status = 3), 0) AS failed
FROM item
WHERE class = :class;

-- Nothing has to be done after a death but to wait; this ends all leases at once.
-- name: recover
UPDATE item SET owner = NULL, visible_at = SYSDATE(6)
WHERE class = :class AND status = 0 AND owner IS NOT NULL;

-- name: teardown
DROP TABLE item;
DROP SEQUENCE claim_number;
