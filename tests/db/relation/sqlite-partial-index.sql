-- sqlite 2 2 SELECT id, status, coalesce(owner, '-'), rank FROM item ORDER BY id
-- strategy: sqlite-partial-index
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, owner varchar(20), rank int NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX one_two ON item (status) WHERE status = 2;
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
UPDATE item SET status = 1, owner = :worker WHERE id = (SELECT id FROM item WHERE status = 0 ORDER BY id LIMIT 1) RETURNING id;
-- name: complete
UPDATE item SET status = 2 WHERE id = :id;
-- name: teardown
DROP TABLE item;
