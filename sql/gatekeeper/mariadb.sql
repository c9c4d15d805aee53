-- A claim inside of a named lock. See strategies/gatekeeper.c.
-- Status: 0 pending, 1 in process, 2 complete, 3 error.

-- name: setup
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

-- name: put
INSERT INTO item (id, class, payload)
SELECT :id + seq, :class, :payload FROM seq_0_to_99999 WHERE seq < :n;

-- name: claim when form=commit recurring=no
-- require: row
SELECT GET_LOCK(CONCAT('lockbench.', :space_no), 10) AS granted;
UPDATE item
JOIN (SELECT id
      FROM item
      WHERE class = :class AND status = 0
      ORDER BY modified, id
      LIMIT :n) AS next USING (id)
JOIN (SELECT LAST_INSERT_ID(NEXTVAL(claim_number)) AS number) AS this
SET status = 1, modified = SYSDATE(6), owner = :worker, token = this.number;
-- answer: row
SELECT id, payload, token FROM item WHERE token = LAST_INSERT_ID();
SELECT RELEASE_LOCK(CONCAT('lockbench.', :space_no));

-- Complete items are due again when a period has passed since.
-- name: claim when form=commit recurring=yes
-- require: row
SELECT GET_LOCK(CONCAT('lockbench.', :space_no), 10) AS granted;
UPDATE item
JOIN (SELECT id
      FROM item
      WHERE class = :class
        AND (status = 0 OR (status = 2 AND modified <= SYSDATE(6) - INTERVAL :period_ms * 1000 MICROSECOND))
      ORDER BY modified, id
      LIMIT :n) AS next USING (id)
JOIN (SELECT LAST_INSERT_ID(NEXTVAL(claim_number)) AS number) AS this
SET status = 1, modified = SYSDATE(6), owner = :worker, token = this.number;
-- answer: row
SELECT id, payload, token FROM item WHERE token = LAST_INSERT_ID();
SELECT RELEASE_LOCK(CONCAT('lockbench.', :space_no));

-- As published: sp_releaseapplock comes before the COMMIT. The next session through the gate does
-- not see yet that the row was taken; the hints, READPAST, ROWLOCK and UPDLOCK, keep it from the
-- same row.
-- name: claim when form=published recurring=no tx=one
-- require: row
SELECT GET_LOCK(CONCAT('lockbench.', :space_no), 10) AS granted;
UPDATE item
JOIN (SELECT id
      FROM item
      WHERE class = :class AND status = 0
      ORDER BY modified, id
      LIMIT :n
      FOR UPDATE SKIP LOCKED) AS next USING (id)
JOIN (SELECT LAST_INSERT_ID(NEXTVAL(claim_number)) AS number) AS this
SET status = 1, modified = SYSDATE(6), owner = :worker, token = this.number;
-- answer: row
SELECT id, payload, token FROM item WHERE token = LAST_INSERT_ID();
SELECT RELEASE_ALL_LOCKS();

-- name: claim when form=published recurring=yes tx=one
-- require: row
SELECT GET_LOCK(CONCAT('lockbench.', :space_no), 10) AS granted;
UPDATE item
JOIN (SELECT id
      FROM item
      WHERE class = :class AND (status = 0 OR (status = 2 AND modified <= SYSDATE(6) - INTERVAL :period_ms * 1000 MICROSECOND))
      ORDER BY modified, id
      LIMIT :n
      FOR UPDATE SKIP LOCKED) AS next USING (id)
JOIN (SELECT LAST_INSERT_ID(NEXTVAL(claim_number)) AS number) AS this
SET status = 1, modified = SYSDATE(6), owner = :worker, token = this.number;
-- answer: row
SELECT id, payload, token FROM item WHERE token = LAST_INSERT_ID();
SELECT RELEASE_ALL_LOCKS();

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
