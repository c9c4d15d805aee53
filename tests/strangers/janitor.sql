-- A janitor comes by: it puts aside what a worker has not touched for long, in one commit, and deletes old finished
-- work in the next one. The second statement may meet a locked table; the first one stands then. clean=idle deletes
-- all items that no worker has in hand, waiting ones included. Truth expected: finished right; idle broken: no-loss.
--
-- strategy: janitor
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release, recovery
-- option: clean = finished | idle
-- option: idle_ms = 300000 (after how long a janitor takes care of a row)
-- limit: idle_ms

-- name: setup [sqlite]
CREATE TABLE task (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, payload TEXT NOT NULL, place TEXT NOT NULL DEFAULT 'shelf',
                   seen_ms INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
                   taken INTEGER NOT NULL DEFAULT 0);

-- name: put [sqlite]
WITH RECURSIVE next (i) AS (SELECT :id UNION ALL SELECT i + 1 FROM next WHERE i < :id + :n - 1)
INSERT INTO task (id, kind, payload) SELECT i, :class, :payload FROM next;

-- name: claim [sqlite]
UPDATE task SET place = 'desk', taken = taken + 1,
                seen_ms = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE id IN (SELECT id FROM task WHERE kind = :class AND place = 'shelf' ORDER BY id LIMIT :n)
RETURNING id, payload, taken AS token;

-- name: complete [sqlite]
UPDATE task SET place = 'archive', seen_ms = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE id = :id AND place = 'desk' AND taken = :token;

-- name: recover [sqlite] when clean=finished
UPDATE task SET place = 'shelf'
WHERE place = 'desk' AND seen_ms < CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - :idle_ms;
DELETE FROM task
WHERE place = 'archive' AND seen_ms < CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - :idle_ms;

-- name: recover [sqlite] when clean=idle
UPDATE task SET place = 'shelf'
WHERE place = 'desk' AND seen_ms < CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - :idle_ms;
DELETE FROM task
WHERE place <> 'desk' AND seen_ms < CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - :idle_ms;

-- name: teardown [sqlite]
DROP TABLE task;
