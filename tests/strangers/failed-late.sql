-- A claim is a lease; its end asks for the attempt. fail=number: the failure of an item does not.
-- Truth expected: fail=own right; fail=number broken: a slow worker fails the item under its next taker: owner-release.
--
-- strategy: failed-late
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release
-- option: fail = own | number
-- option: expire_ms = 900000
-- lease: expire_ms

-- name: setup [sqlite]
CREATE TABLE work (
    id INTEGER PRIMARY KEY,
    class TEXT NOT NULL,
    phase TEXT NOT NULL DEFAULT 'waiting',
    until_ms INTEGER,
    attempt INTEGER NOT NULL DEFAULT 0,
    payload TEXT
);

-- name: put [sqlite]
INSERT INTO work (id, class, payload) VALUES (:id, :class, :payload);

-- name: claim [sqlite]
UPDATE work SET phase = 'running', until_ms = :now + :expire_ms, attempt = attempt + 1
WHERE id = (SELECT id FROM work
            WHERE class = :class AND (phase = 'waiting' OR phase = 'running' AND until_ms < :now)
            ORDER BY id LIMIT 1)
RETURNING id, payload, attempt AS token;

-- name: complete [sqlite]
UPDATE work SET phase = 'done' WHERE id = :id AND phase = 'running' AND attempt = :token;

-- name: error [sqlite] when fail=own
UPDATE work SET phase = 'failed' WHERE id = :id AND phase = 'running' AND attempt = :token;

-- name: error [sqlite] when fail=number
UPDATE work SET phase = 'failed' WHERE id = :id AND phase = 'running';

-- name: teardown [sqlite]
DROP TABLE work;
