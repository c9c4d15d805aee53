-- A lock with a line: a request puts a row with a number, and is granted when none is ahead. number=locked draws the
-- number under a lock of the line, so that numbers commit in their order: right. number=drawn draws it first and
-- commits later: a later number that commits first sees none ahead. number=chance grants to the last request.
-- Truth expected: locked right; drawn (PostgreSQL) and chance broken: exclusive, fifo.
--
-- strategy: in-line
-- shape: lock
-- claims: exclusive, fifo
-- option: number = locked | drawn | chance

-- name: setup [postgres]
CREATE TABLE ask (id bigserial PRIMARY KEY, name text NOT NULL, worker text NOT NULL);
CREATE TABLE line (name text PRIMARY KEY);

-- name: setup [sqlite]
CREATE TABLE ask (id integer PRIMARY KEY AUTOINCREMENT, name text NOT NULL, worker text NOT NULL);
CREATE TABLE line (name text PRIMARY KEY);

-- name: resource
INSERT INTO line (name) VALUES (:resource);

-- name: enqueue [postgres] tx=one when number=locked
SELECT name FROM line WHERE name = :resource FOR UPDATE;
INSERT INTO ask (name, worker) VALUES (:resource, :worker) RETURNING id AS ticket;

-- name: enqueue [postgres] tx=one when number=drawn
INSERT INTO ask (name, worker) VALUES (:resource, :worker) RETURNING id AS ticket;
SELECT :ticket::bigint AS ticket, pg_sleep(0.001);

-- name: enqueue [sqlite] when number=locked|drawn|chance
INSERT INTO ask (name, worker) VALUES (:resource, :worker) RETURNING id AS ticket;

-- name: enqueue [postgres] when number=chance
INSERT INTO ask (name, worker) VALUES (:resource, :worker) RETURNING id AS ticket;

-- name: acquire when number=locked|drawn
SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM ask WHERE name = :resource AND id < :ticket);

-- name: acquire when number=chance
SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM ask WHERE name = :resource AND id > :ticket);

-- name: release
DELETE FROM ask WHERE id = :ticket;

-- name: cancel
DELETE FROM ask WHERE id = :ticket;

-- name: teardown
DROP TABLE ask;
DROP TABLE line;
