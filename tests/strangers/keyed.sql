-- At most `limit` jobs of a customer at a time: a claim takes a place of the customer, and the end of the job
-- gives it back. take=looked counts the running jobs, and nothing keeps two claims from counting together;
-- take=any does not count. end=again gives a place back twice: a recovery gave it back with the job, and the late
-- worker does so again (solid_queue PR #761: a limit of 1 ran 11 times). end=first gives back a place of the first
-- customer that has one, not of its own. back=jobs frees the jobs of dead workers,
-- and not their places (solid_queue #546). back=counted (PostgreSQL) counts them anew in a snapshot of before it
-- waited for a claim. Truth expected: counted right; looked broken where two write at a time, any broken:
-- key-limit; end=again and end=first broken: key-limit; back=jobs broken: no-loss; back=counted broken: key-limit, no-loss.
--
-- strategy: keyed
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, key-limit
-- option: limit = 2
-- option: take = counted | looked | any
-- option: end = own | again | first
-- option: back = places | counted | jobs
-- option: claim_ms = 30000
-- key-limit: limit
-- limit: claim_ms

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, customer varchar(20) NOT NULL, status varchar(10) NOT NULL DEFAULT 'todo',
                  attempt int NOT NULL DEFAULT 0, at_ms bigint, payload varchar(100));
CREATE TABLE place (name varchar(20) PRIMARY KEY, taken int NOT NULL DEFAULT 0);

-- name: put tx=one
INSERT INTO place (name) VALUES (:key) ON CONFLICT DO NOTHING;
INSERT INTO job (id, customer, payload) VALUES (:id, :key, :payload);

-- name: claim [sqlite] tx=one begin=immediate when take=counted
-- require: row
SELECT j.id AS item, j.customer FROM job AS j JOIN place AS p ON p.name = j.customer
WHERE j.status = 'todo' AND p.taken < :limit ORDER BY j.id LIMIT 1;
UPDATE place SET taken = taken + 1 WHERE name = :customer;
UPDATE job SET status = 'doing', at_ms = :now, attempt = attempt + 1 WHERE id = :item
RETURNING id, payload, attempt AS token;

-- name: claim [postgres] tx=one when take=counted
-- require: row
SELECT j.id AS item, j.customer FROM job AS j JOIN place AS p ON p.name = j.customer
WHERE j.status = 'todo' AND p.taken < :limit ORDER BY j.id LIMIT 1 FOR UPDATE;
UPDATE place SET taken = taken + 1 WHERE name = :customer;
UPDATE job SET status = 'doing', at_ms = :now, attempt = attempt + 1 WHERE id = :item
RETURNING id, payload, attempt AS token;

-- name: claim [sqlite] when take=looked
UPDATE job SET status = 'doing', at_ms = :now, attempt = attempt + 1
WHERE id = (SELECT id FROM job AS j
            WHERE status = 'todo'
              AND (SELECT count(*) FROM job AS other
                   WHERE other.status = 'doing' AND other.customer = j.customer) < :limit
            ORDER BY id LIMIT 1)
RETURNING id, customer, payload, attempt AS token;

-- name: claim [postgres] when take=looked
UPDATE job SET status = 'doing', at_ms = :now, attempt = attempt + 1
WHERE id = (SELECT id FROM job AS j
            WHERE status = 'todo'
              AND (SELECT count(*) FROM job AS other
                   WHERE other.status = 'doing' AND other.customer = j.customer) < :limit
            ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, customer, payload, attempt AS token;

-- name: claim [sqlite] when take=any
UPDATE job SET status = 'doing', at_ms = :now, attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY id LIMIT 1)
RETURNING id, customer, payload, attempt AS token;

-- name: claim [postgres] when take=any
UPDATE job SET status = 'doing', at_ms = :now, attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, customer, payload, attempt AS token;

-- name: complete tx=one when take=counted end=own
-- require: row
UPDATE job SET status = 'done' WHERE id = :id AND status = 'doing' AND attempt = :token;
UPDATE place SET taken = taken - 1 WHERE name = :customer;

-- name: complete tx=one commit=always when take=counted end=again
-- answer: row
UPDATE job SET status = 'done' WHERE id = :id AND status = 'doing' AND attempt = :token;
UPDATE place SET taken = taken - 1 WHERE name = :customer;

-- name: complete tx=one when take=counted end=first
-- require: row
UPDATE job SET status = 'done' WHERE id = :id AND status = 'doing' AND attempt = :token;
UPDATE place SET taken = taken - 1 WHERE name = (SELECT min(name) FROM place WHERE taken > 0);

-- name: complete when take!=counted
UPDATE job SET status = 'done' WHERE id = :id AND status = 'doing' AND attempt = :token;

-- name: recover [sqlite] tx=one when back=places
UPDATE job SET status = 'todo' WHERE status = 'doing' AND at_ms < :now - :claim_ms;
UPDATE place SET taken = (SELECT count(*) FROM job WHERE customer = name AND status = 'doing');

-- name: recover [postgres] tx=one when back=places
UPDATE job SET status = 'todo' WHERE status = 'doing' AND at_ms < :now - :claim_ms;
SELECT name FROM place ORDER BY name FOR UPDATE;
UPDATE place SET taken = (SELECT count(*) FROM job WHERE customer = name AND status = 'doing');

-- name: recover [postgres] tx=one when back=counted
UPDATE job SET status = 'todo' WHERE status = 'doing' AND at_ms < :now - :claim_ms;
UPDATE place SET taken = (SELECT count(*) FROM job WHERE customer = name AND status = 'doing');

-- name: recover when back=jobs
UPDATE job SET status = 'todo' WHERE status = 'doing' AND at_ms < :now - :claim_ms;

-- name: teardown
DROP TABLE job;
DROP TABLE place;
