-- Control: consumers share one position. See strategies/offset_claim.c.
-- Status: 0 pending, 1 in process, 2 complete, 3 error.

-- name: setup
CREATE TABLE consumed (class varchar(64) PRIMARY KEY, position bigint NOT NULL);
CREATE TABLE item (
    id bigint PRIMARY KEY,
    class varchar(64) NOT NULL,
    payload text NOT NULL,
    status smallint NOT NULL DEFAULT 0,
    owner varchar(64),
    claimed datetime(6),
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX item_pending ON item (class, status, id);
CREATE INDEX item_token ON item (token);
-- Without INCREMENT BY 0 a Galera cluster refuses it; elsewhere it counts by one all the same.
CREATE SEQUENCE claim_number INCREMENT BY 0;

-- name: put tx=one
INSERT IGNORE INTO consumed (class, position) VALUES (:class, 0);
INSERT INTO item (id, class, payload)
SELECT :id + seq, :class, :payload FROM seq_0_to_99999 WHERE seq < :n;

-- name: claim tx=one
-- require: row
SELECT 1 FROM consumed WHERE class = :class FOR UPDATE;
-- require: row
UPDATE item
JOIN (SELECT id
      FROM item
      WHERE class = :class AND status = 0
        AND id > (SELECT position FROM consumed WHERE class = :class)
      ORDER BY id
      LIMIT :n) AS next USING (id)
JOIN (SELECT LAST_INSERT_ID(NEXTVAL(claim_number)) AS number) AS this
SET status = 1, owner = :worker, claimed = SYSDATE(6), token = this.number;
UPDATE consumed
SET position = greatest(position, (SELECT max(id) FROM item WHERE token = LAST_INSERT_ID()))
WHERE class = :class;
SELECT id, payload, token FROM item WHERE token = LAST_INSERT_ID();

-- name: complete
UPDATE item SET status = 2
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- name: error
UPDATE item SET status = 3
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- The position goes back unless another worker has moved it meanwhile.
-- name: free tx=one
UPDATE consumed SET position = :id - 1 WHERE class = :class AND position = :id;
-- require: row
UPDATE item SET status = 0, owner = NULL
WHERE id = :id AND status = 1 AND owner = :worker AND token = :token;

-- An operator sets the position back, too.
-- name: clear-error tx=one
-- require: row
UPDATE item SET status = 0, owner = NULL WHERE id = :id AND status = 3;
UPDATE consumed SET position = least(position, :id - 1) WHERE class = :class;

-- name: clear-all-errors tx=one
UPDATE item SET status = 0, owner = NULL WHERE class = :class AND status = 3;
UPDATE consumed SET position = 0 WHERE class = :class;

-- name: reset-all tx=one
UPDATE item SET status = 0, owner = NULL WHERE class = :class AND status = 2;
UPDATE consumed SET position = 0 WHERE class = :class;

-- name: recover tx=one
UPDATE item SET status = 0, owner = NULL
WHERE class = :class AND status = 1 AND claimed < SYSDATE(6) - INTERVAL :ttl_ms * 1000 MICROSECOND;
UPDATE consumed SET position = 0 WHERE class = :class;

-- name: count
SELECT coalesce(sum(status = 0), 0) AS pending,
       coalesce(sum(status = 1), 0) AS active,
       coalesce(sum(status = 2), 0) AS done,
       coalesce(sum(status = 3), 0) AS failed
FROM item
WHERE class = :class;

-- name: teardown
DROP TABLE item;
DROP TABLE consumed;
DROP SEQUENCE claim_number;
