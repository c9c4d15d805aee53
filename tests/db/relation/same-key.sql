-- postgres 2 2 SELECT one, item FROM done
-- strategy: same-key
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, owner varchar(20), rank int NOT NULL DEFAULT 0);
CREATE TABLE done (one int PRIMARY KEY, item int);
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
UPDATE item SET status = 1, owner = :worker WHERE id = (SELECT id FROM item WHERE status = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id;
-- name: complete
INSERT INTO done VALUES (1, :id);
-- name: teardown
DROP TABLE item CASCADE;
DROP TABLE done CASCADE;
