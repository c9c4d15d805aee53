-- sqlite 2 2 SELECT id, status, coalesce(owner, '-'), rank FROM item ORDER BY id
-- strategy: sqlite-last-rowid
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, owner varchar(20), rank int NOT NULL DEFAULT 0);
CREATE TABLE log (no INTEGER PRIMARY KEY, item int);
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
UPDATE item SET status = 1, owner = :worker WHERE id = (SELECT id FROM item WHERE status = 0 ORDER BY id LIMIT 1) RETURNING id;
-- name: complete tx=one
INSERT INTO log (item) VALUES (:id);
UPDATE item SET rank = last_insert_rowid() WHERE id = :id;
-- name: teardown
DROP TABLE item;
DROP TABLE log;
