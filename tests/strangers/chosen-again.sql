-- A claim chooses an item, and marks it by a second statement, which asks for its state. look=waiting chooses among
-- those that wait. look=any chooses the first of all: once that one is done, each claim chooses it, and is refused.
-- look=chance chooses one of all by lot: a later try chooses another one. hold=head looks at the oldest item that is not
-- done: the items behind it wait until it is.
-- Truth expected: waiting, chance and head right; any broken: no-loss.
--
-- strategy: chosen-again
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release
-- option: look = waiting | any | chance | head

-- name: setup
CREATE TABLE task (id bigint PRIMARY KEY, state varchar(10) NOT NULL DEFAULT 'waiting', attempt int NOT NULL DEFAULT 0,
                   body varchar(100));

-- name: put
INSERT INTO task (id, body) VALUES (:id, :payload);

-- name: claim tx=one begin=immediate when look=waiting
-- require: row
SELECT id FROM task WHERE state = 'waiting' ORDER BY id LIMIT 1;
UPDATE task SET state = 'running', attempt = attempt + 1 WHERE id = :id AND state = 'waiting'
RETURNING id, body AS payload, attempt AS token;

-- name: claim tx=one begin=immediate when look=any
-- require: row
SELECT id FROM task ORDER BY id LIMIT 1;
UPDATE task SET state = 'running', attempt = attempt + 1 WHERE id = :id AND state = 'waiting'
RETURNING id, body AS payload, attempt AS token;

-- name: claim tx=one begin=immediate when look=chance
-- require: row
SELECT id FROM task ORDER BY random() LIMIT 1;
UPDATE task SET state = 'running', attempt = attempt + 1 WHERE id = :id AND state = 'waiting'
RETURNING id, body AS payload, attempt AS token;

-- name: claim tx=one begin=immediate when look=head
-- require: row
SELECT id FROM task WHERE state <> 'done' ORDER BY id LIMIT 1;
UPDATE task SET state = 'running', attempt = attempt + 1 WHERE id = :id AND state = 'waiting'
RETURNING id, body AS payload, attempt AS token;

-- name: complete
UPDATE task SET state = 'done' WHERE id = :id AND state = 'running' AND attempt = :token;

-- name: free
UPDATE task SET state = 'waiting' WHERE id = :id AND state = 'running' AND attempt = :token;

-- name: teardown
DROP TABLE task;
