-- A received message is hidden for a while; a slow receiver hides it for longer, again and again.
-- renew=own checks that the receiver still has it. renew=number checks the message's number alone: a late
-- receiver takes it from the next one. renew=row writes a column that receivers do not look at: nothing is
-- prolonged. renew=back brings a message back that another has completed in between. After the visibility
-- timeouts of SQS and pgmq (set_vt, by msg_id). Truth expected: own right; the others broken:
-- no-duplicate.
--
-- strategy: visibility
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: renew = own | number | row | back

-- name: setup [sqlite]
CREATE TABLE message (
    id integer PRIMARY KEY,
    body text,
    hidden_until real NOT NULL DEFAULT 0,
    touched_at real,
    reads integer NOT NULL DEFAULT 0,
    done integer NOT NULL DEFAULT 0
);

-- name: setup [postgres]
CREATE TABLE message (
    id bigint PRIMARY KEY,
    body text,
    hidden_until timestamptz NOT NULL DEFAULT '-infinity',
    touched_at timestamptz,
    reads int NOT NULL DEFAULT 0,
    done int NOT NULL DEFAULT 0
);
CREATE INDEX ON message (hidden_until) WHERE done = 0;

-- name: put
INSERT INTO message (id, body) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE message SET hidden_until = julianday('now') + :ttl_ms / 86400000.0, reads = reads + 1
WHERE id IN (SELECT id FROM message WHERE done = 0 AND hidden_until <= julianday('now') ORDER BY id LIMIT :n)
RETURNING id, body AS payload, reads AS token;

-- name: claim [postgres]
UPDATE message SET hidden_until = clock_timestamp() + :ttl_ms * interval '1 millisecond', reads = reads + 1
WHERE id = ANY (ARRAY (SELECT id FROM message WHERE done = 0 AND hidden_until <= clock_timestamp()
                       ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED))
RETURNING id, body AS payload, reads AS token;

-- name: renew [sqlite] when renew=own
UPDATE message SET hidden_until = julianday('now') + :ttl_ms / 86400000.0
WHERE id = :id AND done = 0 AND reads = :token;

-- name: renew [sqlite] when renew=number
UPDATE message SET hidden_until = julianday('now') + :ttl_ms / 86400000.0 WHERE id = :id AND done = 0;

-- name: renew [sqlite] when renew=row
UPDATE message SET touched_at = julianday('now') + :ttl_ms / 86400000.0
WHERE id = :id AND done = 0 AND reads = :token;

-- name: renew [sqlite] when renew=back
UPDATE message SET hidden_until = julianday('now') + :ttl_ms / 86400000.0, done = 0
WHERE id = :id AND (done = 1 OR reads = :token);

-- name: renew [postgres] when renew=own
UPDATE message SET hidden_until = clock_timestamp() + :ttl_ms * interval '1 millisecond'
WHERE id = :id AND done = 0 AND reads = :token;

-- name: renew [postgres] when renew=number
UPDATE message SET hidden_until = clock_timestamp() + :ttl_ms * interval '1 millisecond' WHERE id = :id AND done = 0;

-- name: renew [postgres] when renew=row
UPDATE message SET touched_at = clock_timestamp() + :ttl_ms * interval '1 millisecond'
WHERE id = :id AND done = 0 AND reads = :token;

-- name: renew [postgres] when renew=back
UPDATE message SET hidden_until = clock_timestamp() + :ttl_ms * interval '1 millisecond', done = 0
WHERE id = :id AND (done = 1 OR reads = :token);

-- name: complete
UPDATE message SET done = 1 WHERE id = :id AND done = 0 AND reads = :token;

-- name: teardown
DROP TABLE message;
