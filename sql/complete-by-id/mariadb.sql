-- Control: claims that end by themselves, completed by the number alone. See strategies/complete_by_id.c.
-- Status: 0 pending, or in process until visible_at; 2 complete, 3 error.

-- name: setup
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

-- name: put
INSERT INTO item (id, class, payload)
SELECT :id + seq, :class, :payload FROM seq_0_to_99999 WHERE seq < :n;

-- name: claim tx=one
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

-- name: complete when ends=each
UPDATE item SET status = 2
WHERE id = :id AND status = 0 AND owner IS NOT NULL;

-- name: complete when ends=batch
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id bigint PATH '$')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id
SET status = 2
WHERE item.status = 0 AND item.owner IS NOT NULL;

-- name: error when ends=each
UPDATE item SET status = 3
WHERE id = :id AND status = 0 AND owner IS NOT NULL;

-- name: error when ends=batch
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id bigint PATH '$')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id
SET status = 3
WHERE item.status = 0 AND item.owner IS NOT NULL;

-- name: free when ends=each
UPDATE item SET owner = NULL, visible_at = SYSDATE(6)
WHERE id = :id AND status = 0 AND owner IS NOT NULL;

-- name: free when ends=batch
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id bigint PATH '$')) AS mine
STRAIGHT_JOIN item ON item.id = mine.id
SET owner = NULL, visible_at = SYSDATE(6)
WHERE item.status = 0 AND item.owner IS NOT NULL;

-- name: clear-error
UPDATE item SET status = 0, owner = NULL, visible_at = SYSDATE(6)
WHERE id = :id AND status = 3;

-- name: clear-all-errors
UPDATE item SET status = 0, owner = NULL, visible_at = SYSDATE(6)
WHERE class = :class AND status = 3;

-- name: reset-all
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
