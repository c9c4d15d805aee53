-- A letter may be sent once at most. A rescuer gives up what a worker has had for too long, and an operator sends failed
-- letters again. gives=failed: a letter that was given up counts as failed, and may have been sent.
-- Truth expected: gives=unknown right; gives=failed broken: once.
--
-- strategy: given-up
-- shape: queue
-- claims: once, owner-release
-- option: gives = unknown | failed
-- option: limit_ms = 300000
-- limit: limit_ms

-- name: setup [sqlite]
CREATE TABLE letter (no INTEGER PRIMARY KEY, text TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'new', clerk TEXT, turn INTEGER NOT NULL DEFAULT 0,
                     from_ms INTEGER);

-- name: put [sqlite]
INSERT INTO letter (no, text) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE letter SET state = 'open', clerk = :worker, turn = turn + 1,
                  from_ms = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE no = (SELECT no FROM letter WHERE state = 'new' ORDER BY no LIMIT 1)
RETURNING no AS id, text AS payload, turn AS token;

-- name: complete [sqlite]
UPDATE letter SET state = 'sent' WHERE no = :id AND state = 'open' AND turn = :token;

-- name: error [sqlite]
UPDATE letter SET state = 'failed' WHERE no = :id AND state = 'open' AND turn = :token;

-- name: clear-error [sqlite]
UPDATE letter SET state = 'new' WHERE no = :id AND state = 'failed';

-- name: recover [sqlite] when gives=unknown
UPDATE letter SET state = 'unknown'
WHERE state = 'open' AND from_ms < CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - :limit_ms;

-- name: recover [sqlite] when gives=failed
UPDATE letter SET state = 'failed'
WHERE state = 'open' AND from_ms < CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - :limit_ms;

-- name: teardown [sqlite]
DROP TABLE letter;
