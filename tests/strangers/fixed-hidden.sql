-- A message is hidden for fifteen minutes, which stand in the statement. Right with done=receipt; done=number lets a
-- late receiver end what another has received since.
--
-- strategy: fixed-hidden
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release
-- lease: fixed
-- option: done = receipt | number

-- name: setup [sqlite]
CREATE TABLE message (id integer PRIMARY KEY, body text, hidden_until integer NOT NULL DEFAULT 0,
                      reads integer NOT NULL DEFAULT 0);
-- name: setup [postgres]
CREATE TABLE message (id bigint PRIMARY KEY, body text, hidden_until timestamptz NOT NULL DEFAULT now(),
                      reads int NOT NULL DEFAULT 0);

-- name: put
INSERT INTO message (id, body) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE message SET hidden_until = CAST((julianday('now') - 2440587.5) * 86400000 AS integer) + 15 * 60 * 1000,
                   reads = reads + 1
WHERE id IN (SELECT id FROM message
             WHERE hidden_until <= CAST((julianday('now') - 2440587.5) * 86400000 AS integer) ORDER BY id LIMIT :n)
RETURNING id, body AS payload, reads AS token;
-- name: claim [postgres]
UPDATE message SET hidden_until = clock_timestamp() + '15 minutes'::interval, reads = reads + 1
WHERE id IN (SELECT id FROM message
             WHERE hidden_until <= clock_timestamp() ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED)
RETURNING id, body AS payload, reads AS token;

-- name: complete when done=receipt
DELETE FROM message WHERE id = :id AND reads = :token;
-- name: complete when done=number
DELETE FROM message WHERE id = :id;

-- name: teardown
DROP TABLE message;
