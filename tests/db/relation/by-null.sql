-- postgres 2 2 SELECT id, status, due IS NULL FROM item ORDER BY due NULLS FIRST, id
-- strategy: by-null
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, due timestamptz);
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
UPDATE item SET status = 1 WHERE id = (SELECT id FROM item WHERE status = 0 ORDER BY due NULLS FIRST, id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id;
-- name: complete
UPDATE item SET status = 0, due = clock_timestamp() WHERE id = :id;
-- name: teardown
DROP TABLE item CASCADE;
