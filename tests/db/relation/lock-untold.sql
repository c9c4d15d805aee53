-- postgres 2 1 SELECT id, status, coalesce(owner, '-'), rank FROM item ORDER BY id
-- strategy: lock-untold
-- shape: queue
-- claims: no-loss
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, owner varchar(20), rank int NOT NULL DEFAULT 0);
CREATE TABLE link (id int PRIMARY KEY, is_open int NOT NULL, code int UNIQUE);
INSERT INTO link VALUES (1, 1, 1);
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
WITH next AS (SELECT id FROM link WHERE is_open = 1 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
UPDATE item SET status = 1, owner = :worker FROM next WHERE item.id = next.id RETURNING item.id;
-- name: complete
DELETE FROM item WHERE id = :id;
INSERT INTO item (id, rank) VALUES (:id, 7);
-- name: teardown
DROP TABLE item, link CASCADE;
