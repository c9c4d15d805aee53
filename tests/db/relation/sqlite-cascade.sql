-- sqlite 2 2 SELECT id FROM item ORDER BY id
-- strategy: sqlite-cascade
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, owner varchar(20), rank int NOT NULL DEFAULT 0);
CREATE TABLE child (no int PRIMARY KEY, item int REFERENCES item ON DELETE CASCADE);
INSERT INTO item (id) VALUES (101), (102);
INSERT INTO child VALUES (1, 101), (2, 102);
-- name: put
INSERT INTO item (id, status) VALUES (:id, 9);
-- name: claim
UPDATE item SET status = 1, owner = :worker WHERE id = (SELECT id FROM item WHERE status = 0 ORDER BY id LIMIT 1) RETURNING id;
-- name: complete
SELECT no AS other FROM child ORDER BY no LIMIT 1;
DELETE FROM item WHERE id = :id;
-- name: teardown
DROP TABLE child;
DROP TABLE item;
