-- Taking a task deletes it: read the first one, delete it by its number. check=rowcount looks whether the DELETE
-- found it, check=none does not.
-- After huey's SQLite storage. The statements are ours: no code of the library was run, and no version of it is
-- claimed.
-- Expected: none broken: two read the same task, one of them deletes nothing: no-duplicate. rowcount right.
--
-- strategy: huey
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim
-- option: check = none | rowcount

-- name: setup
CREATE TABLE task (id bigint PRIMARY KEY, queue varchar(64) NOT NULL, data text);

-- name: put
INSERT INTO task (id, queue, data) VALUES (:id, :class, :payload);

-- name: claim when check=none
-- require: row
-- answer: row
SELECT id, data AS payload FROM task WHERE queue = :class ORDER BY id LIMIT 1;
DELETE FROM task WHERE id = :id;

-- name: claim when check=rowcount
-- require: row
SELECT id, data AS payload FROM task WHERE queue = :class ORDER BY id LIMIT 1;
-- require: row
DELETE FROM task WHERE id = :id;
SELECT :id AS id, :payload AS payload;

-- name: complete
SELECT 1 AS granted;

-- name: teardown
DROP TABLE task;
