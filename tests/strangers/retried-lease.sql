-- A claim is a lease; a failed item is due again later. retry=mine checks the claim's owner; retry=number checks the
-- item's number alone: a late worker gives away another's item. A common mechanism. Truth expected: mine right;
-- number broken: owner-release and no-duplicate.
--
-- strategy: retried-lease
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release, recovery
-- option: retry = mine | number

-- name: setup
CREATE TABLE task (id bigint PRIMARY KEY, payload text, run_at bigint NOT NULL DEFAULT 0,
                   lease_until bigint NOT NULL DEFAULT 0, attempt integer NOT NULL DEFAULT 0,
                   finished integer NOT NULL DEFAULT 0);

-- name: put
INSERT INTO task (id, payload) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE task SET lease_until = :now + :ttl_ms, attempt = attempt + 1
WHERE id IN (SELECT id FROM task WHERE finished = 0 AND run_at <= :now AND lease_until <= :now ORDER BY run_at, id LIMIT :n)
RETURNING id, payload, attempt AS token;

-- name: complete
UPDATE task SET finished = 1 WHERE id = :id AND attempt = :token AND finished = 0;

-- name: retry when retry=mine
UPDATE task SET run_at = :now + :delay_ms, lease_until = 0 WHERE id = :id AND attempt = :token AND finished = 0;

-- name: retry when retry=number
UPDATE task SET run_at = :now + :delay_ms, lease_until = 0 WHERE id = :id AND finished = 0;

-- name: teardown
DROP TABLE task;
