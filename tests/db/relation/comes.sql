-- postgres 2 2 SELECT id, status FROM item ORDER BY id
-- strategy: comes
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0);
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
UPDATE item SET status = 1 WHERE id = (SELECT id FROM item WHERE status = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id;
-- name: complete
SELECT id AS other FROM item WHERE status = 3;
UPDATE item SET status = 3 WHERE id = :id;
-- name: teardown
DROP TABLE item CASCADE;
