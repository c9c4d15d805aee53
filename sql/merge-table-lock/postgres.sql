-- A queue worked with MERGE under a table lock, as published. See strategies/merge_table_lock.c.

-- name: setup
CREATE TABLE queue (
    id bigint PRIMARY KEY,
    class text NOT NULL,
    payload text NOT NULL,
    created_on timestamptz NOT NULL DEFAULT clock_timestamp(),
    agent_id text,
    taken_on timestamptz,
    failed boolean NOT NULL DEFAULT false,
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX queue_free ON queue (class, created_on, id) WHERE agent_id IS NULL;
CREATE INDEX queue_taken ON queue (agent_id) WHERE agent_id IS NOT NULL AND NOT failed;
CREATE TABLE done (id bigint PRIMARY KEY, class text NOT NULL, payload text NOT NULL,
                   token bigint NOT NULL);

-- name: put
INSERT INTO queue (id, class, payload)
SELECT i, :class, :payload FROM generate_series(:id::bigint, :id + :n - 1) AS i;

-- name: claim when form=read tx=one
-- needs: merge
LOCK TABLE queue IN {lock_mode} MODE;
-- require: row
MERGE INTO queue
USING (SELECT id FROM queue
       WHERE class = :class AND agent_id IS NULL ORDER BY created_on, id LIMIT :n) AS one
ON queue.id = one.id
WHEN MATCHED AND queue.agent_id IS NOT NULL THEN DELETE
WHEN MATCHED THEN
    UPDATE SET agent_id = :worker, taken_on = clock_timestamp(), token = queue.token + 1;
-- What this transaction wrote. No other can have written it since: the lock.
SELECT 'UPDATE' AS action, id, payload, token
FROM queue
WHERE agent_id = :worker AND NOT failed AND xmin = pg_current_xact_id()::xid
ORDER BY created_on, id;

-- name: claim when form=returning tx=one
-- needs: merge_returning
LOCK TABLE queue IN {lock_mode} MODE;
MERGE INTO queue
USING (SELECT id FROM queue
       WHERE class = :class AND agent_id IS NULL ORDER BY created_on, id LIMIT :n) AS one
ON queue.id = one.id
WHEN MATCHED AND queue.agent_id IS NOT NULL THEN DELETE
WHEN MATCHED THEN
    UPDATE SET agent_id = :worker, taken_on = clock_timestamp(), token = queue.token + 1
RETURNING merge_action() AS action, queue.id, queue.payload, queue.token;

-- As published: any one row, in whoever's hands. One that is taken was processed, it is assumed, and is
-- deleted; such a poll brings nothing, and must be committed all the same.
-- name: claim when form=published tx=one commit=always
-- needs: merge
LOCK TABLE queue IN {lock_mode} MODE;
-- require: row
MERGE INTO queue
USING (SELECT id FROM queue WHERE class = :class LIMIT 1) AS one
ON queue.id = one.id
WHEN MATCHED AND queue.agent_id IS NOT NULL THEN DELETE
WHEN MATCHED THEN
    UPDATE SET agent_id = :worker, taken_on = clock_timestamp(), token = queue.token + 1;
SELECT queue.id IS NOT NULL AS granted, queue.id, queue.payload, queue.token
FROM (SELECT 1) AS merged
LEFT JOIN queue ON queue.agent_id = :worker AND NOT queue.failed AND queue.xmin = pg_current_xact_id()::xid;

-- As published an agent that is done writes nothing: some later poll deletes the row. This only looks
-- whether the row is still there.
-- name: complete when form=published
SELECT id FROM queue WHERE id = :id AND agent_id = :worker AND token = :token;

-- name: complete when done=delete form!=published tx=one
LOCK TABLE queue IN {lock_mode} MODE;
MERGE INTO queue
USING (SELECT id FROM queue
       WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed) AS one
ON queue.id = one.id
WHEN MATCHED AND queue.agent_id IS NOT NULL THEN DELETE
WHEN MATCHED THEN UPDATE SET agent_id = :worker;

-- name: complete when done=keep form!=published tx=one
LOCK TABLE queue IN {lock_mode} MODE;
-- require: row
INSERT INTO done
SELECT id, class, payload, token FROM queue
WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed;
MERGE INTO queue
USING (SELECT id FROM queue
       WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed) AS one
ON queue.id = one.id
WHEN MATCHED AND queue.agent_id IS NOT NULL THEN DELETE
WHEN MATCHED THEN UPDATE SET agent_id = :worker;

-- name: error
UPDATE queue SET failed = true
WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed;

-- name: free
UPDATE queue SET agent_id = NULL
WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed;

-- name: clear-error
UPDATE queue SET agent_id = NULL, failed = false WHERE id = :id AND failed;

-- name: clear-all-errors
UPDATE queue SET agent_id = NULL, failed = false WHERE class = :class AND failed;

-- name: reset-all when done=keep
WITH back AS (DELETE FROM done WHERE class = :class RETURNING id, class, payload, token)
INSERT INTO queue (id, class, payload, token) SELECT id, class, payload, token FROM back;

-- Not of the published form: a row whose agent is done looks like one whose agent died.
-- name: recover when form!=published
UPDATE queue SET agent_id = NULL
WHERE class = :class AND agent_id IS NOT NULL AND NOT failed
  AND taken_on < clock_timestamp() - :ttl_ms * interval '1 millisecond';

-- name: count
SELECT count(*) FILTER (WHERE agent_id IS NULL) AS pending,
       count(*) FILTER (WHERE agent_id IS NOT NULL AND NOT failed) AS active,
       (SELECT count(*) FROM done WHERE class = :class) AS done,
       count(*) FILTER (WHERE failed) AS failed
FROM queue
WHERE class = :class;

-- name: teardown
DROP TABLE queue, done;
