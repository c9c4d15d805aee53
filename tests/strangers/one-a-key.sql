-- One job of a customer at a time (PostgreSQL), in three ways. take=advisory asks for an advisory lock of the customer
-- for the length of the claim, and looks at the running jobs once it has the lock; advisory-blind looks before. take=exists locks the customer's row first; exists-blind
-- locks the job only (two claims that do not see each other: solid_queue PR #761 has a limit of 1 that ran 11 times).
-- take=slot keeps a row for the place, which the claim takes and the end gives back; slot-any gives back whatever is
-- in it. Truth expected: advisory, exists, slot right; advisory-blind, exists-blind, slot-any broken: key-limit.
--
-- strategy: one-a-key
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, key-limit
-- option: take = exists | exists-blind | advisory | advisory-blind | slot | slot-any
-- option: claim_ms = 30000
-- key-limit: 1
-- limit: claim_ms

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, customer varchar(20) NOT NULL, status varchar(10) NOT NULL DEFAULT 'todo',
                  attempt int NOT NULL DEFAULT 0, at_ms bigint, payload varchar(100));
CREATE TABLE slot (customer varchar(20) PRIMARY KEY, job bigint);

-- name: put tx=one
INSERT INTO slot (customer) VALUES (:key) ON CONFLICT DO NOTHING;
INSERT INTO job (id, customer, payload) VALUES (:id, :key, :payload);

-- name: claim [postgres] tx=one when take=exists
-- require: row
SELECT s.customer AS whose FROM slot AS s
WHERE EXISTS (SELECT 1 FROM job AS j WHERE j.customer = s.customer AND j.status = 'todo')
  AND NOT EXISTS (SELECT 1 FROM job AS j WHERE j.customer = s.customer AND j.status = 'doing')
ORDER BY s.customer LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE job SET status = 'doing', at_ms = :now, attempt = attempt + 1
WHERE id = (SELECT min(id) FROM job WHERE customer = :whose AND status = 'todo')
  AND NOT EXISTS (SELECT 1 FROM job WHERE customer = :whose AND status = 'doing')
RETURNING id, customer, payload, attempt AS token;

-- name: claim [postgres] when take=exists-blind
UPDATE job SET status = 'doing', at_ms = :now, attempt = attempt + 1
WHERE id = (SELECT id FROM job AS j
            WHERE status = 'todo'
              AND NOT EXISTS (SELECT 1 FROM job AS other WHERE other.status = 'doing' AND other.customer = j.customer)
            ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, customer, payload, attempt AS token;

-- name: claim [postgres] tx=one when take=advisory
-- require: row
WITH free AS MATERIALIZED (
  SELECT s.customer FROM slot AS s
  WHERE EXISTS (SELECT 1 FROM job AS j WHERE j.customer = s.customer AND j.status = 'todo')
    AND NOT EXISTS (SELECT 1 FROM job AS j WHERE j.customer = s.customer AND j.status = 'doing')
  ORDER BY s.customer LIMIT 1)
SELECT customer AS whose FROM free WHERE pg_try_advisory_xact_lock(hashtext(customer));
UPDATE job SET status = 'doing', at_ms = :now, attempt = attempt + 1
WHERE id = (SELECT min(id) FROM job WHERE customer = :whose AND status = 'todo')
  AND NOT EXISTS (SELECT 1 FROM job WHERE customer = :whose AND status = 'doing')
RETURNING id, customer, payload, attempt AS token;

-- name: claim [postgres] tx=one when take=advisory-blind
-- require: row
SELECT s.customer AS whose FROM slot AS s
WHERE EXISTS (SELECT 1 FROM job AS j WHERE j.customer = s.customer AND j.status = 'todo')
  AND NOT EXISTS (SELECT 1 FROM job AS j WHERE j.customer = s.customer AND j.status = 'doing')
ORDER BY s.customer LIMIT 1;
-- require: row
SELECT 1 AS locked WHERE pg_try_advisory_xact_lock(hashtext(:whose));
UPDATE job SET status = 'doing', at_ms = :now, attempt = attempt + 1
WHERE id = (SELECT min(id) FROM job WHERE customer = :whose AND status = 'todo')
RETURNING id, customer, payload, attempt AS token;

-- name: claim [postgres] tx=one when take=slot
-- require: row
SELECT j.id AS item, s.customer AS whose FROM slot AS s
JOIN job AS j ON j.customer = s.customer AND j.status = 'todo'
WHERE s.job IS NULL ORDER BY j.id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE slot SET job = :item WHERE customer = :whose AND job IS NULL;
UPDATE job SET status = 'doing', at_ms = :now, attempt = attempt + 1 WHERE id = :item
RETURNING id, customer, payload, attempt AS token;

-- name: claim [postgres] tx=one when take=slot-any
-- require: row
SELECT j.id AS item, s.customer AS whose FROM slot AS s
JOIN job AS j ON j.customer = s.customer AND j.status = 'todo'
WHERE s.job IS NULL ORDER BY j.id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE slot SET job = :item WHERE customer = :whose AND job IS NULL;
UPDATE job SET status = 'doing', at_ms = :now, attempt = attempt + 1 WHERE id = :item
RETURNING id, customer, payload, attempt AS token;

-- name: complete tx=one when take=slot
-- require: row
UPDATE job SET status = 'done' WHERE id = :id AND status = 'doing' AND attempt = :token;
UPDATE slot SET job = NULL WHERE customer = :customer AND job = :id;

-- name: complete tx=one commit=always when take=slot-any
-- answer: row
UPDATE job SET status = 'done' WHERE id = :id AND status = 'doing' AND attempt = :token;
UPDATE slot SET job = NULL WHERE customer = :customer;

-- name: complete when take!=slot take!=slot-any
UPDATE job SET status = 'done' WHERE id = :id AND status = 'doing' AND attempt = :token;

-- name: recover tx=one
UPDATE job SET status = 'todo' WHERE status = 'doing' AND at_ms < :now - :claim_ms;
UPDATE slot SET job = NULL WHERE job IN (SELECT id FROM job WHERE status = 'todo');

-- name: teardown
DROP TABLE job;
DROP TABLE slot;
