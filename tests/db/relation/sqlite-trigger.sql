-- sqlite 2 2 SELECT n FROM tally
-- strategy: sqlite-trigger
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, owner varchar(20), rank int NOT NULL DEFAULT 0);
CREATE TABLE tally (one int PRIMARY KEY, n int);
INSERT INTO tally VALUES (1, 0);
CREATE TRIGGER bumps AFTER UPDATE ON item WHEN NEW.status = 2 BEGIN UPDATE tally SET n = n * 2 + NEW.id; END;
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
UPDATE item SET status = 1, owner = :worker WHERE id = (SELECT id FROM item WHERE status = 0 ORDER BY id LIMIT 1) RETURNING id;
-- name: complete
UPDATE item SET status = 2 WHERE id = :id;
-- name: teardown
DROP TABLE item;
DROP TABLE tally;
