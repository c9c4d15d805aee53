-- mariadb 2 1 SELECT id, status, coalesce(owner, '-'), n FROM item ORDER BY id
-- every step
-- Two workers have one item: the second completion is in vain, and the first one may wait for it.
-- strategy: mariadb-completed-twice
-- shape: queue
-- claims: no-duplicate, once, fifo
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, owner varchar(20), n int NOT NULL DEFAULT 0);
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
SELECT id, n AS seen FROM item;
-- name: complete
UPDATE item SET status = 2, owner = :worker, n = 10 * n + 1 + :seen WHERE id = :id AND status = 0;
-- name: teardown
DROP TABLE item;
