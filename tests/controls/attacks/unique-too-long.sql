-- The key counts until the item is done, and the header says until it is claimed.
-- strategy: unique-too-long
-- shape: queue
-- claims: no-duplicate, no-loss, unique, owner-release
-- unique: until-claimed
-- name: setup
CREATE TABLE job (id INTEGER PRIMARY KEY, cls TEXT NOT NULL, ukey TEXT, payload TEXT, state TEXT NOT NULL DEFAULT 'ready', worker TEXT);
CREATE UNIQUE INDEX job_unique ON job (ukey) WHERE state IN ('ready', 'taken');
-- name: put
INSERT INTO job (id, cls, ukey, payload) VALUES (:id, :class, :unique_key, :payload) ON CONFLICT (ukey) WHERE state IN ('ready', 'taken') DO NOTHING;
-- name: claim
UPDATE job SET state = 'taken', worker = :worker
WHERE id = (SELECT id FROM job WHERE cls = :class AND state = 'ready' ORDER BY id LIMIT 1)
RETURNING id, payload;
-- name: complete
UPDATE job SET state = 'done' WHERE id = :id AND worker = :worker AND state = 'taken';
-- name: free
UPDATE job SET state = 'ready', worker = NULL WHERE id = :id AND worker = :worker AND state = 'taken';
-- name: teardown
DROP TABLE job;
