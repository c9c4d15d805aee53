-- An item that failed is tried again later. retry=own checks the attempt; retry=number checks the item alone: a slow
-- worker that lost its item makes an item ready that another has by then. After river and oban. Truth expected: own
-- right; number broken: owner-release, and no-duplicate by what follows.
-- limit: rescue_after_ms
-- strategy: retried
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: rescue_after_ms = 3600000
-- option: retry = own | number

-- name: setup
CREATE TABLE job (
    id bigint PRIMARY KEY,
    args text,
    state text NOT NULL DEFAULT 'ready',
    attempt bigint NOT NULL DEFAULT 0,
    due_ms bigint NOT NULL DEFAULT 0,
    taken_ms bigint
);

-- name: put
INSERT INTO job (id, args) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE job SET state = 'taken', attempt = attempt + 1, taken_ms = :now
WHERE id IN (SELECT id FROM job WHERE state = 'ready' AND due_ms <= :now ORDER BY id LIMIT :n)
RETURNING id, args AS payload, attempt AS token;

-- name: claim [postgres]
UPDATE job SET state = 'taken', attempt = attempt + 1, taken_ms = :now
WHERE id = ANY (ARRAY (SELECT id FROM job WHERE state = 'ready' AND due_ms <= :now ORDER BY id LIMIT :n
                       FOR UPDATE SKIP LOCKED))
RETURNING id, args AS payload, attempt AS token;

-- name: complete
UPDATE job SET state = 'done' WHERE id = :id AND state = 'taken' AND attempt = :token;

-- name: retry when retry=own
UPDATE job SET state = 'ready', due_ms = :now + :delay_ms WHERE id = :id AND state = 'taken' AND attempt = :token;

-- name: retry when retry=number
UPDATE job SET state = 'ready', due_ms = :now + :delay_ms WHERE id = :id AND state = 'taken';

-- name: recover
UPDATE job SET state = 'ready' WHERE state = 'taken' AND taken_ms < :now - :rescue_after_ms;

-- name: teardown
DROP TABLE job;
