-- Priorities are compared as text: 10 comes before 9.
-- strategy: priority-as-text
-- shape: queue
-- claims: no-duplicate, no-loss, priority
-- priority: highest-first
-- name: setup
CREATE TABLE job (id INTEGER PRIMARY KEY, cls TEXT NOT NULL, prio TEXT NOT NULL, payload TEXT, worker TEXT, done INTEGER NOT NULL DEFAULT 0);
-- name: put
INSERT INTO job (id, cls, prio, payload) VALUES (:id, :class, :priority, :payload);
-- name: claim
UPDATE job SET worker = :worker WHERE id = (SELECT id FROM job WHERE cls = :class AND worker IS NULL ORDER BY prio DESC, id LIMIT 1)
RETURNING id, payload;
-- name: complete
UPDATE job SET done = 1 WHERE id = :id AND worker = :worker;
-- name: teardown
DROP TABLE job;
