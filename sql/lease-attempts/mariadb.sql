-- Claims that end by themselves, with a maximum of attempts. See strategies/lease_attempts.c.
-- Status: 0 pending, or in process until visible_at; 1 stranded; 2 complete; 3 dead letter.
-- attempts: most

-- name: setup
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class varchar(64) NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0,
    visible_at datetime(6) NOT NULL DEFAULT SYSDATE(6),
    owner varchar(64),
    token bigint NOT NULL DEFAULT 0,
    attempts int NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, status, visible_at, id);
CREATE INDEX item_token ON item (token);
-- Without INCREMENT BY 0 a Galera cluster refuses it; elsewhere it counts by one all the same.
CREATE SEQUENCE claim_number INCREMENT BY 0;

-- name: put
INSERT INTO item (id, class, payload)
SELECT :id + seq, :class, :payload FROM seq_0_to_99999 WHERE seq < :n;

-- name: claim when counted=at-claim tx=one
-- require: row
UPDATE item
JOIN (SELECT id
      FROM item
      WHERE class = :class AND status = 0 AND visible_at <= SYSDATE(6) AND attempts < :most
      ORDER BY visible_at, id
      LIMIT :n
      FOR UPDATE SKIP LOCKED) AS next USING (id)
JOIN (SELECT LAST_INSERT_ID(NEXTVAL(claim_number)) AS number) AS this
SET owner = :worker, visible_at = SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND, token = this.number,
    attempts = attempts + 1;
SELECT id, payload, token FROM item WHERE token = LAST_INSERT_ID();

-- name: claim when counted=at-end|never tx=one
-- require: row
UPDATE item
JOIN (SELECT id
      FROM item
      WHERE class = :class AND status = 0 AND visible_at <= SYSDATE(6) AND attempts < :most
      ORDER BY visible_at, id
      LIMIT :n
      FOR UPDATE SKIP LOCKED) AS next USING (id)
JOIN (SELECT LAST_INSERT_ID(NEXTVAL(claim_number)) AS number) AS this
SET owner = :worker, visible_at = SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND, token = this.number;
SELECT id, payload, token FROM item WHERE token = LAST_INSERT_ID();

-- name: renew
UPDATE item SET visible_at = SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token AND visible_at > SYSDATE(6);

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
    owner = NULL, visible_at = SYSDATE(6) + INTERVAL :delay_ms * 1000 MICROSECOND
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: retry when counted=at-end
UPDATE item
SET status = CASE WHEN attempts + 1 >= :most THEN 3 ELSE 0 END,
    owner = NULL, visible_at = SYSDATE(6) + INTERVAL :delay_ms * 1000 MICROSECOND, attempts = attempts + 1
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- No attempt would help: a dead letter at once.
-- name: error
UPDATE item SET status = 3
WHERE id = :id AND status = 0 AND owner = :worker AND token = :token;

-- name: stop when stops=gives-back
UPDATE item SET owner = NULL, visible_at = SYSDATE(6)
WHERE class = :class AND status = 0 AND owner = :worker;

-- name: stop when stops=drops
UPDATE item SET status = 1, owner = NULL
WHERE class = :class AND status = 0 AND owner = :worker;

-- name: clear-error
UPDATE item SET status = 0, owner = NULL, visible_at = SYSDATE(6), attempts = 0
WHERE id = :id AND status = 3;

-- name: clear-all-errors
UPDATE item SET status = 0, owner = NULL, visible_at = SYSDATE(6), attempts = 0
WHERE class = :class AND status = 3;

-- name: reset-all
UPDATE item SET status = 0, owner = NULL, visible_at = SYSDATE(6), attempts = 0
WHERE class = :class AND status = 2;

-- name: count
SELECT coalesce(sum(status = 0 AND visible_at <= SYSDATE(6) AND attempts < :most), 0) AS pending,
       coalesce(sum(status = 0 AND visible_at > SYSDATE(6)), 0) AS active,
       coalesce(sum(status = 2), 0) AS done,
       coalesce(sum(status = 3 OR (status = 0 AND visible_at <= SYSDATE(6) AND attempts >= :most)), 0) AS failed
FROM item
WHERE class = :class;

-- An item whose last claim was not ended is a dead letter.
-- name: recover when recovered=kept
UPDATE item SET status = 3, owner = NULL
WHERE class = :class AND status = 0 AND visible_at <= SYSDATE(6) AND attempts >= :most;

-- name: recover when recovered=reset
UPDATE item SET owner = NULL, attempts = 0
WHERE class = :class AND status = 0 AND visible_at <= SYSDATE(6) AND owner IS NOT NULL;

-- name: teardown
DROP TABLE item;
DROP SEQUENCE claim_number;
