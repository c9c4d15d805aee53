-- mariadb 2 2 SELECT id, status FROM item ORDER BY id
-- every step
-- A claim keeps its transaction open, and a completion in vain frees the item, which others skip
-- until the commit.
-- strategy: mariadb-hold-frees
-- shape: queue
-- claims: no-duplicate, fifo
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0);
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim tx=hold
SELECT id FROM item WHERE status = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
-- name: complete
UPDATE item SET status = 1 WHERE id = :id AND status = 7;
-- name: teardown
DROP TABLE item;
