-- sqlite 2 2 SELECT n FROM tally
-- strategy: sqlite-upsert
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, owner varchar(20), rank int NOT NULL DEFAULT 0);
CREATE TABLE tally (one int PRIMARY KEY, n int);
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
UPDATE item SET status = 1, owner = :worker WHERE id = (SELECT id FROM item WHERE status = 0 ORDER BY id LIMIT 1) RETURNING id;
-- name: complete
INSERT INTO tally VALUES (1, :id) ON CONFLICT (one) DO UPDATE SET n = n * 2 + excluded.n;
-- name: teardown
DROP TABLE item;
DROP TABLE tally;
