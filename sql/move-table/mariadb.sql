-- Ready items in one table, claimed ones in another. See strategies/move_table.c.

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, class varchar(64) NOT NULL, payload text NOT NULL);
CREATE TABLE ready (id bigint PRIMARY KEY, class varchar(64) NOT NULL);
CREATE INDEX ready_class ON ready (class, id);
CREATE TABLE claimed (
    id bigint PRIMARY KEY,
    class varchar(64) NOT NULL,
    owner varchar(64) NOT NULL,
    token bigint NOT NULL,
    since datetime(6) NOT NULL DEFAULT SYSDATE(6),
    KEY claimed_token (token)
);
CREATE TABLE failed (id bigint PRIMARY KEY, class varchar(64) NOT NULL);
CREATE TABLE done (id bigint PRIMARY KEY, class varchar(64) NOT NULL);
-- Without INCREMENT BY 0 a Galera cluster refuses it; elsewhere it counts by one all the same.
CREATE SEQUENCE claim_number INCREMENT BY 0;

-- name: put tx=one
INSERT INTO job (id, class, payload)
SELECT :id + seq, :class, :payload FROM seq_0_to_99999 WHERE seq < :n;
INSERT INTO ready (id, class)
SELECT :id + seq, :class FROM seq_0_to_99999 WHERE seq < :n;

-- name: claim tx=one
SELECT NEXTVAL(claim_number) AS token;
-- require: row
INSERT INTO claimed (id, class, owner, token)
SELECT id, class, :worker, :token
FROM ready
WHERE class = :class
ORDER BY id
LIMIT :n
FOR UPDATE SKIP LOCKED;
DELETE ready FROM ready JOIN claimed USING (id) WHERE claimed.token = :token;
SELECT id, payload, token FROM claimed JOIN job USING (id) WHERE token = :token;

-- name: complete tx=one
-- require: row
INSERT INTO done (id, class) SELECT id, class FROM claimed WHERE id = :id AND owner = :worker AND token = :token;
DELETE FROM claimed WHERE id = :id AND owner = :worker AND token = :token;

-- name: error tx=one
-- require: row
INSERT INTO failed (id, class) SELECT id, class FROM claimed WHERE id = :id AND owner = :worker AND token = :token;
DELETE FROM claimed WHERE id = :id AND owner = :worker AND token = :token;

-- name: free tx=one
-- require: row
INSERT INTO ready (id, class) SELECT id, class FROM claimed WHERE id = :id AND owner = :worker AND token = :token;
DELETE FROM claimed WHERE id = :id AND owner = :worker AND token = :token;

-- name: clear-error tx=one
-- require: row
INSERT INTO ready (id, class) SELECT id, class FROM failed WHERE id = :id;
DELETE FROM failed WHERE id = :id;

-- name: clear-all-errors tx=one
INSERT INTO ready (id, class) SELECT id, class FROM failed WHERE class = :class;
DELETE FROM failed WHERE class = :class;

-- name: reset-all tx=one
INSERT INTO ready (id, class) SELECT id, class FROM done WHERE class = :class;
DELETE FROM done WHERE class = :class;

-- name: recover tx=one
-- The clock is read once: an item that becomes overdue between the two statements must not be deleted only.
SELECT SYSDATE(6) - INTERVAL :ttl_ms * 1000 MICROSECOND AS cut;
INSERT INTO ready (id, class) SELECT id, class FROM claimed WHERE class = :class AND since < :cut;
DELETE FROM claimed WHERE class = :class AND since < :cut;

-- name: count
SELECT (SELECT count(*) FROM ready WHERE class = :class) AS pending,
       (SELECT count(*) FROM claimed WHERE class = :class) AS active,
       (SELECT count(*) FROM done WHERE class = :class) AS done,
       (SELECT count(*) FROM failed WHERE class = :class) AS failed;

-- name: teardown
DROP TABLE job;
DROP TABLE ready;
DROP TABLE claimed;
DROP TABLE failed;
DROP TABLE done;
DROP SEQUENCE claim_number;
