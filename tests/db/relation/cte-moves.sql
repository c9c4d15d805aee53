-- postgres 2 2 SELECT id, coalesce(after, 0) FROM done ORDER BY id
-- strategy: cte-moves
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, owner varchar(20), rank int NOT NULL DEFAULT 0);
CREATE TABLE done (id int PRIMARY KEY, after int);
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
WITH gone AS (DELETE FROM item WHERE id = (SELECT id FROM item WHERE status = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id) INSERT INTO done (id, after) SELECT id, (SELECT min(d.id) FROM done d) FROM gone RETURNING id;
-- name: complete
SELECT 1 AS one;
-- name: teardown
DROP TABLE item CASCADE;
DROP TABLE done CASCADE;
