-- A queue under LOCK TABLES. See strategies/merge_table_lock.c.
-- MariaDB has no MERGE. LOCK TABLES commits an open transaction, and changes made under it are not
-- rolled back: a claim that fails half way stays half done, where other engines undo it. The lock
-- has one strength for writers; all lock modes are WRITE here.

-- name: setup
CREATE TABLE queue (
    id bigint PRIMARY KEY,
    class varchar(64) NOT NULL,
    payload text NOT NULL,
    created_on datetime(6) NOT NULL DEFAULT SYSDATE(6),
    agent_id varchar(64),
    taken_on datetime(6),
    failed boolean NOT NULL DEFAULT false,
    token bigint NOT NULL DEFAULT 0
);
CREATE INDEX queue_free ON queue (class, agent_id, created_on, id);
CREATE INDEX queue_token ON queue (token);
CREATE TABLE done (id bigint PRIMARY KEY, class varchar(64) NOT NULL, payload text NOT NULL,
                   token bigint NOT NULL);
CREATE TABLE claim_number (value bigint NOT NULL);
INSERT INTO claim_number VALUES (0);

-- name: put
INSERT INTO queue (id, class, payload)
SELECT :id + seq, :class, :payload FROM seq_0_to_99999 WHERE seq < :n;

-- name: claim when form!=published
LOCK TABLES queue WRITE, claim_number WRITE;
UPDATE claim_number SET value = LAST_INSERT_ID(value + 1);
UPDATE queue
SET agent_id = :worker, taken_on = SYSDATE(6), token = LAST_INSERT_ID()
WHERE class = :class AND agent_id IS NULL
ORDER BY created_on, id
LIMIT :n;
-- answer: row
SELECT 'UPDATE' AS action, id, payload, token FROM queue WHERE token = LAST_INSERT_ID()
ORDER BY created_on, id;
UNLOCK TABLES;

-- As published: any one row, in whoever's hands. One that is taken is deleted, else it is taken.
-- name: claim when form=published
LOCK TABLES queue WRITE;
-- require: row
SELECT id FROM queue WHERE class = :class LIMIT 1;
DELETE FROM queue WHERE id = :id AND agent_id IS NOT NULL;
UPDATE queue SET agent_id = :worker, taken_on = SYSDATE(6), token = token + 1 WHERE id = :id;
-- answer: row
SELECT 'UPDATE' AS action, id, payload, token FROM queue WHERE id = :id;
UNLOCK TABLES;

-- As published an agent that is done writes nothing: some later poll deletes the row. This only looks
-- whether the row is still there.
-- name: complete when form=published
SELECT id FROM queue WHERE id = :id AND agent_id = :worker AND token = :token;

-- name: complete when done=delete form!=published
LOCK TABLES queue WRITE;
-- answer: row
DELETE FROM queue WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed;
UNLOCK TABLES;

-- name: complete when done=keep form!=published
LOCK TABLES queue WRITE, done WRITE;
-- require: row
INSERT INTO done
SELECT id, class, payload, token FROM queue
WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed;
-- answer: row
DELETE FROM queue WHERE id = :id AND agent_id = :worker AND token = :token AND NOT failed;
UNLOCK TABLES;

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

-- name: reset-all when done=keep tx=one
INSERT INTO queue (id, class, payload, token)
SELECT id, class, payload, token FROM done WHERE class = :class;
DELETE FROM done WHERE class = :class;

-- Not of the published form: a row whose agent is done looks like one whose agent died.
-- name: recover when form!=published
UPDATE queue SET agent_id = NULL
WHERE class = :class AND agent_id IS NOT NULL AND NOT failed
  AND taken_on < SYSDATE(6) - INTERVAL :ttl_ms * 1000 MICROSECOND;

-- name: count
SELECT coalesce(sum(agent_id IS NULL), 0) AS pending,
       coalesce(sum(agent_id IS NOT NULL AND NOT failed), 0) AS active,
       (SELECT count(*) FROM done WHERE class = :class) AS done,
       coalesce(sum(failed), 0) AS failed
FROM queue
WHERE class = :class;

-- name: teardown
DROP TABLE queue;
DROP TABLE done;
DROP TABLE claim_number;
