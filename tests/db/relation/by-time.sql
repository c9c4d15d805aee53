-- postgres 2 2 SELECT id, status, n FROM item ORDER BY id
-- a clock that runs
-- strategy: by-time
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, due time NOT NULL DEFAULT '00:00', n int NOT NULL DEFAULT 0);
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
-- require: row
SELECT n AS seen FROM item WHERE id = 1;
UPDATE item SET status = 1, n = n + 1 WHERE id = (SELECT id FROM item WHERE status = 0 AND due <= LOCALTIME ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id;
-- name: complete
UPDATE item SET status = 0, n = n + 1, due = CAST(clock_timestamp() AS time) WHERE id = :id;
-- name: teardown
DROP TABLE item CASCADE;
