-- postgres 2 2 SELECT n FROM tally
-- strategy: on-conflict
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, owner varchar(20), rank int NOT NULL DEFAULT 0);
CREATE TABLE tally (one int PRIMARY KEY, n int NOT NULL);
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
UPDATE item SET status = 1, owner = :worker WHERE id = (SELECT id FROM item WHERE status = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id;
-- name: complete
INSERT INTO tally VALUES (1, :id) ON CONFLICT (one) DO UPDATE SET n = tally.n * 2 + excluded.n;
-- name: teardown
DROP TABLE item CASCADE;
DROP TABLE tally CASCADE;
