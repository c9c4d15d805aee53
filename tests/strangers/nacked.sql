-- Old claims are put back. nack=number: giving an item back checks its number only.
-- Truth expected: nack=own right; nack=number broken: a slow worker gives back the next one's item: owner-release.
-- limit: stuck_after_ms
-- strategy: nacked
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release
-- option: nack = own | number
-- option: stuck_after_ms = 900000

-- name: setup [sqlite]
CREATE TABLE work (
    id INTEGER PRIMARY KEY,
    class TEXT NOT NULL,
    phase TEXT NOT NULL DEFAULT 'waiting',
    taken_ms INTEGER,
    attempt INTEGER NOT NULL DEFAULT 0,
    payload TEXT
);

-- name: put [sqlite]
INSERT INTO work (id, class, payload) VALUES (:id, :class, :payload);

-- name: claim [sqlite]
UPDATE work SET phase = 'running', taken_ms = :now, attempt = attempt + 1
WHERE id = (SELECT id FROM work WHERE class = :class AND phase = 'waiting' ORDER BY id LIMIT 1)
RETURNING id, payload, attempt AS token;

-- name: complete [sqlite]
UPDATE work SET phase = 'done' WHERE id = :id AND phase = 'running' AND attempt = :token;

-- name: free [sqlite] when nack=own
UPDATE work SET phase = 'waiting' WHERE id = :id AND phase = 'running' AND attempt = :token;

-- name: free [sqlite] when nack=number
UPDATE work SET phase = 'waiting' WHERE id = :id AND phase = 'running';

-- name: recover [sqlite]
UPDATE work SET phase = 'waiting' WHERE phase = 'running' AND taken_ms < :now - :stuck_after_ms;

-- name: teardown [sqlite]
DROP TABLE work;
