-- A visibility timeout by the server's clock. back=server: an item that is given back is visible at once. back=worker: at
-- the worker's time, which may be far ahead. put=stamped makes it visible a second before its producer's time, which may be a wish for later.
-- Truth expected: back=server right; back=worker broken: no-loss, where the workers' clocks are ahead.
--
-- strategy: clocks-back
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release
-- option: back = server | worker
-- option: put = plain | stamped
-- option: hidden_ms = 30000
-- lease: hidden_ms

-- name: setup [sqlite]
CREATE TABLE message (id integer PRIMARY KEY, body text, visible_ms real NOT NULL DEFAULT 0,
    read_count integer NOT NULL DEFAULT 0, back_ms integer);

-- name: put [sqlite] when put=plain
INSERT INTO message (id, body) VALUES (:id, :payload);
-- name: put [sqlite] when put=stamped
INSERT INTO message (id, body, visible_ms) VALUES (:id, :payload, :now - 1000);

-- name: claim [sqlite]
UPDATE message SET visible_ms = (julianday('now') - 2440587.5) * 86400000 + :hidden_ms, read_count = read_count + 1
WHERE id IN (SELECT id FROM message WHERE visible_ms <= (julianday('now') - 2440587.5) * 86400000 ORDER BY id LIMIT :n)
RETURNING id, body AS payload, read_count AS token;

-- name: complete
DELETE FROM message WHERE id = :id AND read_count = :token;

-- name: free [sqlite] when back=server
UPDATE message SET visible_ms = (julianday('now') - 2440587.5) * 86400000, back_ms = :now
WHERE id = :id AND read_count = :token;
-- name: free [sqlite] when back=worker
UPDATE message SET visible_ms = :now, back_ms = :now WHERE id = :id AND read_count = :token;

-- name: teardown
DROP TABLE message;
