-- strategy: walks-dead
-- shape: queue
-- claims: no-duplicate
-- summary: the claim walks over the removed jobs that an old snapshot keeps
-- needs: skip_locked
-- Source: https://brandur.org/postgres-queues

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload text NOT NULL);

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim tx=hold
-- answer: row
SELECT id, payload FROM job ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;

-- name: complete
DELETE FROM job WHERE id = :id;

-- name: teardown
DROP TABLE job;
