-- The most urgent job first: a claim takes the waiting job of the highest priority. order=id forgets the priority.
-- lock=window (PostgreSQL) locks the ten first jobs and claims one of them: meanwhile other claims skip the nine that
-- still wait. Truth expected: one right; order=id broken: priority; lock=window broken: priority.
--
-- strategy: urgent
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, priority
-- option: order = priority | id
-- option: lock = one | window
-- priority: highest-first

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, priority int NOT NULL, status varchar(10) NOT NULL DEFAULT 'todo',
                  attempt int NOT NULL DEFAULT 0, payload varchar(100));
CREATE INDEX job_urgent ON job (status, priority DESC, id);

-- name: put
INSERT INTO job (id, priority, payload) VALUES (:id, :priority, :payload);

-- name: claim [sqlite] when order=priority
UPDATE job SET status = 'doing', attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY priority DESC, id LIMIT 1)
RETURNING id, payload, attempt AS token;

-- name: claim [sqlite] when order=id
UPDATE job SET status = 'doing', attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY id LIMIT 1)
RETURNING id, payload, attempt AS token;

-- name: claim [postgres] when order=priority lock=one
UPDATE job SET status = 'doing', attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY priority DESC, id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload, attempt AS token;

-- name: claim [postgres] when order=id lock=one
UPDATE job SET status = 'doing', attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload, attempt AS token;

-- name: claim [postgres] when order=priority lock=window
WITH head AS MATERIALIZED (SELECT id, priority FROM job WHERE status = 'todo'
                           ORDER BY priority DESC, id LIMIT 10 FOR UPDATE SKIP LOCKED)
UPDATE job SET status = 'doing', attempt = attempt + 1
WHERE id = (SELECT id FROM head ORDER BY priority DESC, id LIMIT 1)
RETURNING id, payload, attempt AS token;

-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'doing' AND attempt = :token;

-- name: teardown
DROP TABLE job;
