-- strategy: fixed-limit
-- summary: a rescuer whose patience of five minutes is written in its statement: right, and nobody can wait for it
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, recovery, owner-release
-- limit: fixed
-- name: setup [sqlite]
CREATE TABLE job (id INTEGER PRIMARY KEY, class TEXT, payload TEXT, state TEXT DEFAULT 'new', attempt INTEGER NOT NULL DEFAULT 0, taken REAL);
-- name: put
INSERT INTO job (id, class, payload) VALUES (:id, :class, :payload);
-- name: claim [sqlite]
UPDATE job SET state = 'busy', attempt = attempt + 1, taken = (julianday('now') - 2440587.5) * 86400.0
WHERE id IN (SELECT id FROM job WHERE class = :class AND state = 'new' ORDER BY id LIMIT :n)
RETURNING id, payload, attempt AS token;
-- name: complete
UPDATE job SET state = 'done' WHERE id = :id AND attempt = :token AND state = 'busy';
-- name: recover [sqlite]
UPDATE job SET state = 'new' WHERE class = :class AND state = 'busy' AND taken < (julianday('now') - 2440587.5) * 86400.0 - 5 * 60;
-- name: teardown
DROP TABLE job;
