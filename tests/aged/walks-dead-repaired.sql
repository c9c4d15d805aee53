-- strategy: walks-dead-repaired
-- shape: queue
-- claims: no-duplicate
-- summary: the claim begins at a mark, which recover moves up to the first job
-- needs: skip_locked
-- Source: https://brandur.org/postgres-queues

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload text NOT NULL);
CREATE TABLE mark (low bigint NOT NULL);
INSERT INTO mark VALUES (0);

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim tx=hold
-- answer: row
SELECT id, payload FROM job WHERE id > (SELECT low FROM mark) ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;

-- name: complete
DELETE FROM job WHERE id = :id;

-- A put that commits late has a number at most 1000 below the first job.
-- name: recover
UPDATE mark SET low = (SELECT min(id) FROM job) - 1000 WHERE low < (SELECT min(id) FROM job) - 1000;

-- name: teardown
DROP TABLE job;
DROP TABLE mark;
