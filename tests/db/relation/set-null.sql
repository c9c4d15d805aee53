-- postgres 2 2 SELECT id, status, coalesce(owner, '-'), rank FROM item ORDER BY id
-- strategy: set-null
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, owner varchar(20), rank int NOT NULL DEFAULT 0);
CREATE TABLE child (no int PRIMARY KEY, item int REFERENCES item ON DELETE SET NULL);
INSERT INTO item (id, status) VALUES (101, 0), (102, 0);
INSERT INTO child VALUES (1, 101), (2, 102);
-- name: put
INSERT INTO item (id, status) VALUES (:id, 9);
-- name: claim
UPDATE item SET status = 1, owner = :worker WHERE id = (SELECT id FROM item WHERE status = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id;
-- name: complete
SELECT no AS other FROM child WHERE item IS NULL ORDER BY no LIMIT 1;
DELETE FROM item WHERE id = :id;
-- name: teardown
DROP TABLE child CASCADE;
DROP TABLE item CASCADE;
