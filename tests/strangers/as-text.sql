-- Times are kept as text, and their length is made by printf. ask=same compares with a time of the same form; ask=other with
-- datetime('now'), which has a blank where the other has a T.
-- A common mechanism. Truth expected: same right; other broken: a lease is not over before its day is.
--
-- strategy: as-text
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release, recovery
-- option: ttl_ms = 60000
-- option: ask = same | other

-- name: setup
CREATE TABLE msg (id bigint PRIMARY KEY, class text, payload text, done int NOT NULL DEFAULT 0,
    run bigint NOT NULL DEFAULT 0, until text NOT NULL DEFAULT '');

-- name: put
INSERT INTO msg (id, class, payload) VALUES (:id, :class, :payload);

-- name: claim [sqlite] when ask=same
UPDATE msg SET run = run + 1,
    until = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('+%.3f seconds', :ttl_ms / 1000.0))
WHERE id IN (SELECT id FROM msg WHERE class = :class AND done = 0
    AND until <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') ORDER BY id LIMIT :n)
RETURNING id, payload, run AS token;
-- name: claim [sqlite] when ask=other
UPDATE msg SET run = run + 1,
    until = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('+%.3f seconds', :ttl_ms / 1000.0))
WHERE id IN (SELECT id FROM msg WHERE class = :class AND done = 0 AND until <= datetime('now') ORDER BY id LIMIT :n)
RETURNING id, payload, run AS token;

-- name: complete
UPDATE msg SET done = 1 WHERE id = :id AND run = :token AND done = 0;

-- name: teardown
DROP TABLE msg;
