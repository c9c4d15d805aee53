-- Messages that can be seen again after a while. retry=number makes one visible by its number alone, also where
-- another has received it by now. Truth expected: receipt right; number broken: owner-release.
--
-- strategy: late-retry
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release, recovery
-- option: retry = receipt | number

-- name: setup
CREATE TABLE message (id bigint PRIMARY KEY, body varchar(100), visible_at bigint NOT NULL, receipt integer NOT NULL);

-- name: put
INSERT INTO message (id, body, visible_at, receipt) VALUES (:id, :payload, 0, 0);

-- name: claim
UPDATE message SET visible_at = :now + :ttl_ms, receipt = receipt + 1
WHERE id = (SELECT id FROM message WHERE visible_at <= :now ORDER BY id LIMIT 1)
RETURNING id, body AS payload, receipt AS token;

-- name: retry when retry=receipt
UPDATE message SET visible_at = :now + :delay_ms WHERE id = :id AND receipt = :token AND visible_at > :now;

-- name: retry when retry=number
UPDATE message SET visible_at = :now + :delay_ms WHERE id = :id AND visible_at > :now;

-- name: complete
DELETE FROM message WHERE id = :id AND receipt = :token AND visible_at > :now;

-- name: teardown
DROP TABLE message;
