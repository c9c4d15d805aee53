-- An outbox in the order of a sequence. Its relays take turns. With CACHE 32 each session that puts would have numbers of its
-- own, kept for later.
-- Truth expected: right; with CACHE 32 broken: fifo.
--
-- strategy: cached-sequence
-- shape: queue
-- claims: fifo, no-duplicate
-- isolation: read committed

-- name: setup [postgres]
CREATE SEQUENCE outbox_pos START 1 CACHE 1;
CREATE TABLE relay_turn (one int PRIMARY KEY);
INSERT INTO relay_turn VALUES (1);
CREATE TABLE outbox (event_id bigint PRIMARY KEY, pos bigint NOT NULL DEFAULT nextval('outbox_pos'), body text, relay text,
                     sent boolean NOT NULL DEFAULT false);

-- name: put [postgres]
INSERT INTO outbox (event_id, body) VALUES (:id, :payload);

-- name: claim [postgres] tx=one
SELECT one FROM relay_turn FOR UPDATE;
-- answer: row
UPDATE outbox SET relay = :worker WHERE event_id = (SELECT event_id FROM outbox WHERE relay IS NULL ORDER BY pos LIMIT 1)
RETURNING event_id AS id, body AS payload;

-- name: complete [postgres]
UPDATE outbox SET sent = true WHERE event_id = :id AND relay = :worker AND NOT sent;

-- name: teardown [postgres]
DROP TABLE outbox;
DROP TABLE relay_turn;
DROP SEQUENCE outbox_pos;
