-- An item received three times goes to the dead letters: it is not lost. Right.
--
-- strategy: dead-letter
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: visible_ms = 30000 (visibility timeout)
-- option: max_receives = 3
-- lease: visible_ms
-- attempts: max_receives
-- name: setup [sqlite]
CREATE TABLE msg (id integer PRIMARY KEY, body text, receives integer NOT NULL DEFAULT 0, visible_at real NOT NULL DEFAULT 0, dead integer NOT NULL DEFAULT 0);
-- name: put
INSERT INTO msg (id, body) VALUES (:id, :payload);
-- name: claim [sqlite]
UPDATE msg SET dead = 1 WHERE dead = 0 AND receives >= :max_receives AND visible_at <= julianday('now');
UPDATE msg SET receives = receives + 1, visible_at = julianday('now') + :visible_ms / 86400000.0
WHERE id IN (SELECT id FROM msg WHERE dead = 0 AND receives < :max_receives AND visible_at <= julianday('now') ORDER BY id LIMIT :n)
RETURNING id, body AS payload, receives AS token;
-- name: complete
DELETE FROM msg WHERE id = :id AND receives = :token AND dead = 0;
-- name: free
UPDATE msg SET visible_at = 0 WHERE id = :id AND receives = :token AND dead = 0;
-- name: teardown
DROP TABLE msg;
