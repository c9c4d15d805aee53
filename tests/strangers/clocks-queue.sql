-- A visibility timeout: a claim hides its message until a time, after which any worker may claim it. clock=server uses
-- the server's clock alone, clock=workers by the workers' alone: both are right. clock=mixed hides by the worker's clock
-- and looks by the server's: a worker whose clock is behind hides nothing. put_at is for people, and decides nothing.
-- Truth expected: server and workers right; mixed broken: no-duplicate.
--
-- strategy: clocks-queue
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release
-- option: clock = server | workers | mixed
-- option: hidden_ms = 30000
-- lease: hidden_ms

-- name: setup [sqlite]
CREATE TABLE message (id integer PRIMARY KEY, body text, visible_ms real NOT NULL DEFAULT 0,
    read_count integer NOT NULL DEFAULT 0, put_at text DEFAULT CURRENT_TIMESTAMP);

-- name: setup [postgres]
CREATE TABLE message (id bigint PRIMARY KEY, body text, visible_ms float8 NOT NULL DEFAULT 0,
    read_count int NOT NULL DEFAULT 0, put_at timestamptz DEFAULT now());

-- name: setup [mariadb]
CREATE TABLE message (id bigint PRIMARY KEY, body text, visible_ms double NOT NULL DEFAULT 0,
    read_count int NOT NULL DEFAULT 0, put_at timestamp(6) DEFAULT CURRENT_TIMESTAMP(6));

-- name: put
INSERT INTO message (id, body) VALUES (:id, :payload);

-- name: claim [sqlite] when clock=server
UPDATE message SET visible_ms = (julianday('now') - 2440587.5) * 86400000 + :hidden_ms, read_count = read_count + 1
WHERE id IN (SELECT id FROM message WHERE visible_ms <= (julianday('now') - 2440587.5) * 86400000 ORDER BY id LIMIT :n)
RETURNING id, body AS payload, read_count AS token;

-- name: claim [sqlite] when clock=workers
UPDATE message SET visible_ms = :now + :hidden_ms, read_count = read_count + 1
WHERE id IN (SELECT id FROM message WHERE visible_ms <= :now ORDER BY id LIMIT :n)
RETURNING id, body AS payload, read_count AS token;

-- name: claim [sqlite] when clock=mixed
UPDATE message SET visible_ms = :now + :hidden_ms, read_count = read_count + 1
WHERE id IN (SELECT id FROM message WHERE visible_ms <= (julianday('now') - 2440587.5) * 86400000 ORDER BY id LIMIT :n)
RETURNING id, body AS payload, read_count AS token;

-- name: claim [postgres] when clock=server
UPDATE message SET visible_ms = extract(epoch FROM clock_timestamp()) * 1000 + :hidden_ms, read_count = read_count + 1
WHERE id = ANY (ARRAY (SELECT id FROM message WHERE visible_ms <= extract(epoch FROM clock_timestamp()) * 1000
    ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED))
RETURNING id, body AS payload, read_count AS token;

-- name: claim [postgres] when clock=workers
UPDATE message SET visible_ms = :now + :hidden_ms, read_count = read_count + 1
WHERE id = ANY (ARRAY (SELECT id FROM message WHERE visible_ms <= :now ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED))
RETURNING id, body AS payload, read_count AS token;

-- name: claim [postgres] when clock=mixed
UPDATE message SET visible_ms = :now + :hidden_ms, read_count = read_count + 1
WHERE id = ANY (ARRAY (SELECT id FROM message WHERE visible_ms <= extract(epoch FROM clock_timestamp()) * 1000
    ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED))
RETURNING id, body AS payload, read_count AS token;

-- name: claim [mariadb] tx=one when clock=server
-- require: row
SELECT id, body AS payload, read_count + 1 AS token FROM message
WHERE visible_ms <= UNIX_TIMESTAMP(SYSDATE(6)) * 1000 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
-- answer: row
SELECT :id AS id, :payload AS payload, :token AS token;
UPDATE message SET visible_ms = UNIX_TIMESTAMP(SYSDATE(6)) * 1000 + :hidden_ms, read_count = read_count + 1
WHERE id = :id;

-- name: claim [mariadb] tx=one when clock=workers
-- require: row
SELECT id, body AS payload, read_count + 1 AS token FROM message
WHERE visible_ms <= :now ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
-- answer: row
SELECT :id AS id, :payload AS payload, :token AS token;
UPDATE message SET visible_ms = :now + :hidden_ms, read_count = read_count + 1 WHERE id = :id;

-- name: claim [mariadb] tx=one when clock=mixed
-- require: row
SELECT id, body AS payload, read_count + 1 AS token FROM message
WHERE visible_ms <= UNIX_TIMESTAMP(SYSDATE(6)) * 1000 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
-- answer: row
SELECT :id AS id, :payload AS payload, :token AS token;
UPDATE message SET visible_ms = :now + :hidden_ms, read_count = read_count + 1 WHERE id = :id;

-- name: complete
DELETE FROM message WHERE id = :id AND read_count = :token;

-- name: teardown
DROP TABLE message;
