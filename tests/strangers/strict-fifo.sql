-- Jobs of a customer are done one at a time, in order. take=heads takes the oldest job of any customer that has none
-- running. take=head looks at the oldest job of all, and takes nothing if its customer has one running: then one
-- customer, with a job that is stuck, keeps the jobs of all others waiting. After pg-boss (key_strict_fifo, PR #871: "a
-- single blocked key starves unrelated keys").
-- Truth expected: heads right; head broken: no-loss.
--
-- strategy: strict-fifo
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, key-limit
-- option: take = heads | head
-- option: claim_ms = 30000
-- key-limit: 1
-- limit: claim_ms

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, customer varchar(20) NOT NULL, status varchar(10) NOT NULL DEFAULT 'todo',
                  attempt int NOT NULL DEFAULT 0, at_ms bigint, payload varchar(100));
CREATE TABLE line (customer varchar(20) PRIMARY KEY);

-- name: put tx=one
INSERT INTO line (customer) VALUES (:key) ON CONFLICT DO NOTHING;
INSERT INTO job (id, customer, payload) VALUES (:id, :key, :payload);

-- name: claim [sqlite] when take=heads
UPDATE job SET status = 'doing', at_ms = :now, attempt = attempt + 1
WHERE id = (SELECT min(id) FROM job AS j WHERE status = 'todo'
            AND NOT EXISTS (SELECT 1 FROM job AS other WHERE other.customer = j.customer AND other.status = 'doing'))
RETURNING id, payload, attempt AS token;

-- name: claim [sqlite] when take=head
UPDATE job SET status = 'doing', at_ms = :now, attempt = attempt + 1
WHERE id = (SELECT min(id) FROM job WHERE status = 'todo')
  AND NOT EXISTS (SELECT 1 FROM job AS other WHERE other.customer = job.customer AND other.status = 'doing')
RETURNING id, payload, attempt AS token;

-- name: claim [postgres] tx=one when take=heads
-- require: row
SELECT l.customer AS whose FROM line AS l
CROSS JOIN LATERAL (SELECT min(id) AS id FROM job WHERE customer = l.customer AND status = 'todo') AS head
WHERE head.id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM job WHERE customer = l.customer AND status = 'doing')
ORDER BY head.id LIMIT 1 FOR UPDATE OF l SKIP LOCKED;
UPDATE job SET status = 'doing', at_ms = :now, attempt = attempt + 1
WHERE id = (SELECT min(id) FROM job WHERE customer = :whose AND status = 'todo')
  AND NOT EXISTS (SELECT 1 FROM job WHERE customer = :whose AND status = 'doing')
RETURNING id, payload, attempt AS token;

-- name: claim [postgres] tx=one when take=head
-- require: row
SELECT l.customer AS whose FROM line AS l
WHERE l.customer = (SELECT customer FROM job WHERE status = 'todo' ORDER BY id LIMIT 1) FOR UPDATE;
UPDATE job SET status = 'doing', at_ms = :now, attempt = attempt + 1
WHERE id = (SELECT min(id) FROM job WHERE customer = :whose AND status = 'todo')
  AND NOT EXISTS (SELECT 1 FROM job WHERE customer = :whose AND status = 'doing')
RETURNING id, payload, attempt AS token;

-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'doing' AND attempt = :token;

-- name: recover
UPDATE job SET status = 'todo' WHERE status = 'doing' AND at_ms < :now - :claim_ms;

-- name: teardown
DROP TABLE job;
DROP TABLE line;
