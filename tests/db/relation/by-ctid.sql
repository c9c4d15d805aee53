-- postgres 2 2 SELECT id, status, coalesce(owner, '-'), rank FROM item ORDER BY id
-- strategy: by-ctid
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, owner varchar(20), rank int NOT NULL DEFAULT 0);
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
UPDATE item SET status = 1, owner = :worker WHERE ctid = (SELECT ctid FROM item WHERE status = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id;
-- name: complete
UPDATE item SET status = 0, rank = rank + 1 WHERE id = :id;
-- name: teardown
DROP TABLE item CASCADE;
