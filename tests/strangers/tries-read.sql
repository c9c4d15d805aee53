-- Tries that a worker counts itself. counts=row: the statement that claims adds one to the row's number. counts=read: the
-- worker writes the number that it has read plus one, so a claim in between is not counted if its item was given back.
-- Truth expected: counts=row right; counts=read broken: attempts.
--
-- strategy: tries-read
-- shape: queue
-- claims: attempts, no-duplicate, owner-release
-- option: counts = row | read
-- option: most = 4
-- attempts: most

-- name: setup [sqlite]
CREATE TABLE chore (id INTEGER PRIMARY KEY, what TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open', who TEXT,
                    tries INTEGER NOT NULL DEFAULT 0, turn INTEGER NOT NULL DEFAULT 0);

-- name: put [sqlite]
INSERT INTO chore (id, what) VALUES (:id, :payload);

-- name: claim [sqlite] when counts=row
UPDATE chore SET state = 'begun', who = :worker, turn = turn + 1, tries = tries + 1
WHERE id = (SELECT id FROM chore WHERE state = 'open' AND tries < :most ORDER BY id LIMIT 1)
RETURNING id, what AS payload, turn AS token;

-- name: claim [sqlite] when counts=read
-- require: row
SELECT id, tries FROM chore WHERE state = 'open' AND tries < :most ORDER BY id LIMIT 1;
UPDATE chore SET state = 'begun', who = :worker, turn = turn + 1, tries = :tries + 1
WHERE id = :id AND state = 'open'
RETURNING id, what AS payload, turn AS token;

-- name: complete [sqlite]
UPDATE chore SET state = 'done' WHERE id = :id AND state = 'begun' AND turn = :token;

-- name: free [sqlite]
UPDATE chore SET state = 'open', who = NULL WHERE id = :id AND state = 'begun' AND turn = :token;

-- name: teardown [sqlite]
DROP TABLE chore;
