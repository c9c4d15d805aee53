-- A message is invisible for a lease once it is received; its receipt (a count) is asked for by the end. A receiver
-- that needs longer extends the lease: by number (extend=number) or under its receipt (extend=receipt).
-- After pgmq's set_vt. The statements are ours: no code of the library was run, and no version of it is claimed.
-- Expected: number broken: who comes too late extends the next one's lease and goes on as well: no-duplicate.
-- receipt right.
--
-- strategy: extend-visibility
-- shape: queue
-- needs: skip_locked
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: extend = number | receipt

-- name: setup [postgres]
CREATE TABLE q (msg_id bigint PRIMARY KEY, message text, read_ct int NOT NULL DEFAULT 0,
                vt timestamptz NOT NULL DEFAULT '1970-01-01');
CREATE INDEX q_vt ON q (vt, msg_id);

-- name: put [postgres]
INSERT INTO q (msg_id, message) SELECT i, :payload FROM generate_series(:id::bigint, :id + :n - 1) AS i;

-- name: claim [postgres]
WITH visible AS (
    SELECT msg_id FROM q WHERE vt <= clock_timestamp() ORDER BY msg_id LIMIT :n FOR UPDATE SKIP LOCKED
)
UPDATE q SET vt = clock_timestamp() + :ttl_ms * interval '1 millisecond', read_ct = read_ct + 1
FROM visible
WHERE q.msg_id = visible.msg_id
RETURNING q.msg_id AS id, q.message AS payload, q.read_ct AS token;

-- name: renew [postgres] when extend=number
UPDATE q SET vt = clock_timestamp() + :ttl_ms * interval '1 millisecond' WHERE msg_id = :id;

-- name: renew [postgres] when extend=receipt
UPDATE q SET vt = clock_timestamp() + :ttl_ms * interval '1 millisecond'
WHERE msg_id = :id AND read_ct = :token AND vt > clock_timestamp();

-- name: complete [postgres]
DELETE FROM q WHERE msg_id = :id AND read_ct = :token;

-- name: teardown [postgres]
DROP TABLE q;
