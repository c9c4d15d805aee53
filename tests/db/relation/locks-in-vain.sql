-- postgres 2 2 SELECT id, status, coalesce(owner, '-'), rank FROM item ORDER BY id
-- strategy: locks-in-vain
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, owner varchar(20), rank int NOT NULL DEFAULT 0);
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
WITH next AS (SELECT id FROM item WHERE status = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
UPDATE item SET status = 1, owner = :worker FROM next WHERE item.id = next.id AND item.id > 1 RETURNING item.id;
-- name: complete
UPDATE item SET status = 0, rank = rank + 1 WHERE id = :id;
-- name: teardown
DROP TABLE item CASCADE;
