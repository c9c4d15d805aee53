-- strategy: outbox
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release
-- option: claim_ms = 30000
-- lease: claim_ms
-- summary: a claim has a token, and takes the name of the version before; its end asks for the token alone

-- name: setup
CREATE TABLE outbox (id bigint PRIMARY KEY, payload varchar(100), done int NOT NULL DEFAULT 0,
                     owner varchar(40), until_ms bigint NOT NULL DEFAULT 0, token bigint NOT NULL DEFAULT 0);

-- name: migrate
ALTER TABLE outbox ADD COLUMN token bigint NOT NULL DEFAULT 0;

-- name: put
INSERT INTO outbox (id, payload) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE outbox SET owner = :worker, token = token + 1, until_ms = :now + :claim_ms
WHERE id = (SELECT id FROM outbox WHERE done = 0 AND until_ms <= :now ORDER BY id LIMIT 1)
  AND done = 0 AND until_ms <= :now
RETURNING id, payload, token;

-- name: claim [postgres,mariadb] tx=one
-- require: row
-- answer: row
SELECT id, payload, token + 1 AS token FROM outbox
WHERE done = 0 AND until_ms <= :now ORDER BY id LIMIT 1 FOR UPDATE;
UPDATE outbox SET owner = :worker, token = :token, until_ms = :now + :claim_ms WHERE id = :id;

-- name: complete
UPDATE outbox SET done = 1 WHERE id = :id AND token = :token AND done = 0;

-- name: teardown
DROP TABLE outbox;
