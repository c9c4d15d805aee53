-- A queue that tries an item a few times, with any name of the column, and then has it among the dead letters.
-- count=goes counts each claim; count=lost forgets where the item is when it is given back.
-- Truth expected: goes right: an item at the limit is not lost; lost broken: no-loss.
--
-- strategy: goes
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release
-- option: most = 4
-- option: back = found | lost
-- attempts: most

-- name: setup [sqlite]
CREATE TABLE msg (id integer PRIMARY KEY, body text, n_goes integer NOT NULL DEFAULT 0, state text NOT NULL DEFAULT 'new');

-- name: put
INSERT INTO msg (id, body) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE msg SET state = 'taken', n_goes = n_goes + 1
WHERE id IN (SELECT id FROM msg WHERE state = 'new' AND n_goes < :most ORDER BY id LIMIT :n)
RETURNING id, body AS payload, n_goes AS token;

-- name: complete
UPDATE msg SET state = 'done' WHERE id = :id AND state = 'taken' AND n_goes = :token;

-- name: free when back=found
UPDATE msg SET state = 'new' WHERE id = :id AND state = 'taken' AND n_goes = :token;

-- name: free when back=lost
UPDATE msg SET state = 'gone' WHERE id = :id AND state = 'taken' AND n_goes = :token;

-- name: teardown
DROP TABLE msg;
