-- postgres 2 2 SELECT n FROM tally
-- strategy: rule
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, owner varchar(20), rank int NOT NULL DEFAULT 0);
CREATE TABLE tally (one int PRIMARY KEY, n int NOT NULL);
INSERT INTO tally VALUES (1, 0);
CREATE RULE bumps AS ON DELETE TO item DO ALSO UPDATE tally SET n = n * 2 + OLD.id;
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
UPDATE item SET status = 1, owner = :worker WHERE id = (SELECT id FROM item WHERE status = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id;
-- name: complete
DELETE FROM item WHERE id = :id;
-- name: teardown
DROP TABLE item CASCADE;
DROP TABLE tally CASCADE;
