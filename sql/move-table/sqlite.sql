-- Ready items in one table, claimed ones in another. See strategies/move_table.c.

-- name: setup
CREATE TABLE job (id INTEGER PRIMARY KEY, class TEXT NOT NULL, payload TEXT NOT NULL);
CREATE TABLE ready (id INTEGER PRIMARY KEY, class TEXT NOT NULL);
CREATE INDEX ready_class ON ready (class, id);
CREATE TABLE claimed (
    id INTEGER PRIMARY KEY,
    class TEXT NOT NULL,
    owner TEXT NOT NULL,
    token INTEGER NOT NULL,
    since REAL NOT NULL DEFAULT (julianday('now'))
);
CREATE TABLE failed (id INTEGER PRIMARY KEY, class TEXT NOT NULL);
CREATE TABLE done (id INTEGER PRIMARY KEY, class TEXT NOT NULL);
CREATE TABLE claim_number (value INTEGER NOT NULL);
INSERT INTO claim_number VALUES (0);

-- name: put tx=one begin=immediate
WITH RECURSIVE items (i) AS (
    SELECT :id UNION ALL SELECT i + 1 FROM items WHERE i < :id + :n - 1
)
INSERT INTO job (id, class, payload) SELECT i, :class, :payload FROM items;
WITH RECURSIVE items (i) AS (
    SELECT :id UNION ALL SELECT i + 1 FROM items WHERE i < :id + :n - 1
)
INSERT INTO ready (id, class) SELECT i, :class FROM items;

-- name: claim tx=one begin=immediate
UPDATE claim_number SET value = value + 1 RETURNING value AS token;
-- answer: row
INSERT INTO claimed (id, class, owner, token)
SELECT id, class, :worker, :token FROM ready WHERE class = :class ORDER BY id LIMIT :n
RETURNING id, (SELECT payload FROM job WHERE job.id = claimed.id) AS payload, token;
DELETE FROM ready WHERE id IN (SELECT id FROM claimed WHERE token = :token);

-- name: complete tx=one begin=immediate
-- require: row
INSERT INTO done (id, class) SELECT id, class FROM claimed WHERE id = :id AND owner = :worker AND token = :token;
DELETE FROM claimed WHERE id = :id AND owner = :worker AND token = :token;

-- name: error tx=one begin=immediate
-- require: row
INSERT INTO failed (id, class) SELECT id, class FROM claimed WHERE id = :id AND owner = :worker AND token = :token;
DELETE FROM claimed WHERE id = :id AND owner = :worker AND token = :token;

-- name: free tx=one begin=immediate
-- require: row
INSERT INTO ready (id, class) SELECT id, class FROM claimed WHERE id = :id AND owner = :worker AND token = :token;
DELETE FROM claimed WHERE id = :id AND owner = :worker AND token = :token;

-- name: clear-error tx=one begin=immediate
-- require: row
INSERT INTO ready (id, class) SELECT id, class FROM failed WHERE id = :id;
DELETE FROM failed WHERE id = :id;

-- name: clear-all-errors tx=one begin=immediate
INSERT INTO ready (id, class) SELECT id, class FROM failed WHERE class = :class;
DELETE FROM failed WHERE class = :class;

-- name: reset-all tx=one begin=immediate
INSERT INTO ready (id, class) SELECT id, class FROM done WHERE class = :class;
DELETE FROM done WHERE class = :class;

-- name: recover tx=one begin=immediate
-- The clock is read once: an item that becomes overdue between the two statements must not be deleted only.
SELECT julianday('now') - :ttl_ms / 86400000.0 AS cut;
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
DROP TABLE claim_number;
