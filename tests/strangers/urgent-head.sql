-- The most urgent job first, by a row that has the priority of the most urgent one that waits: a claim looks for a job of
-- that priority, and lowers the row if there is none. A put raises the row. put=apart raises it in a transaction of its
-- own before the job is there: a claim between lowers it again, and the next claims pass the job. Truth expected: one
-- right; apart broken: priority.
--
-- strategy: urgent-head
-- shape: queue
-- claims: no-duplicate, bounded-claim, owner-release, priority
-- option: put = one | apart
-- priority: highest-first

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, priority int NOT NULL, status varchar(10) NOT NULL DEFAULT 'todo',
                  attempt int NOT NULL DEFAULT 0, payload varchar(100));
CREATE TABLE head (priority int NOT NULL);
INSERT INTO head (priority) VALUES (0);

-- name: put tx=one begin=immediate when put=one
UPDATE head SET priority = CASE WHEN priority < :priority THEN :priority ELSE priority END;
INSERT INTO job (id, priority, payload) VALUES (:id, :priority, :payload);

-- name: put when put=apart
UPDATE head SET priority = CASE WHEN priority < :priority THEN :priority ELSE priority END;
INSERT INTO job (id, priority, payload) VALUES (:id, :priority, :payload);

-- name: claim tx=one begin=immediate commit=always
UPDATE head SET priority = coalesce((SELECT max(priority) FROM job WHERE status = 'todo'), 0)
WHERE NOT EXISTS (SELECT 1 FROM job WHERE status = 'todo' AND job.priority = head.priority);
UPDATE job SET status = 'doing', attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' AND priority = (SELECT priority FROM head) ORDER BY id LIMIT 1)
  AND status = 'todo'
RETURNING id, payload, attempt AS token;

-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'doing' AND attempt = :token;

-- name: teardown
DROP TABLE job;
DROP TABLE head;
