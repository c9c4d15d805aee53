-- The claim commits each statement by itself: a refusal between two of them loses the item.
-- strategy: refused-begin
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release, bounded-claim
-- name: setup
CREATE TABLE ready (id INTEGER PRIMARY KEY, cls TEXT NOT NULL, payload TEXT);
CREATE TABLE running (id INTEGER PRIMARY KEY, cls TEXT NOT NULL, payload TEXT, worker TEXT NOT NULL);
CREATE TABLE archive (id INTEGER PRIMARY KEY, cls TEXT NOT NULL, payload TEXT);
-- name: put
INSERT INTO ready (id, cls, payload) VALUES (:id, :class, :payload);
-- name: claim
-- require: row
DELETE FROM ready WHERE id = (SELECT id FROM ready WHERE cls = :class ORDER BY id LIMIT 1) RETURNING id, cls AS job_cls, payload AS body;
INSERT INTO running (id, cls, payload, worker) VALUES (:id, :job_cls, :body, :worker) RETURNING id, payload;
-- name: complete tx=one
-- require: row
DELETE FROM running WHERE id = :id AND worker = :worker RETURNING cls AS c, payload AS p;
INSERT INTO archive (id, cls, payload) VALUES (:id, :c, :p);
-- name: free tx=one
-- require: row
DELETE FROM running WHERE id = :id AND worker = :worker RETURNING cls AS c, payload AS p;
INSERT INTO ready (id, cls, payload) VALUES (:id, :c, :p);
-- name: reset-all tx=one
INSERT INTO ready (id, cls, payload) SELECT id, cls, payload FROM archive WHERE cls = :class;
DELETE FROM archive WHERE cls = :class;
-- name: teardown
DROP TABLE ready;
DROP TABLE running;
DROP TABLE archive;
