-- A queue with a claim of three statements, each committed by itself. Between the mark and the
-- read is a look at a row that each end of an item locks for a moment: it is refused now and
-- then. A marked item comes back with the end of its lease. A common mechanism. Truth expected:
-- right.
--
-- strategy: parted
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release

-- name: setup
CREATE TABLE job (id integer PRIMARY KEY, body text, state int DEFAULT 0, owner varchar(60), until_ms bigint DEFAULT 0);
CREATE TABLE settings (name varchar(20) PRIMARY KEY, pace int);
INSERT INTO settings VALUES ('pace', 1);

-- name: put
INSERT INTO job (id, body) VALUES (:id, :payload);

-- name: claim
-- require: row
UPDATE job SET state = 1, owner = :worker, until_ms = :now + :ttl_ms
WHERE id = (SELECT id FROM job WHERE state < 2 AND until_ms <= :now ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id AS taken;
SELECT pace FROM settings WHERE name = 'pace' FOR UPDATE NOWAIT;
SELECT id, body AS payload FROM job WHERE id = :taken;

-- name: complete tx=one
SELECT pace FROM settings WHERE name = 'pace' FOR UPDATE;
UPDATE job SET state = 2 WHERE id = :id AND owner = :worker AND state = 1 AND until_ms > :now;

-- name: teardown
DROP TABLE job;
DROP TABLE settings;
