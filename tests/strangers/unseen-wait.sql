-- At most one unfinished job of each account: a unique index over the states that count. A job that is tried again later
-- has a state of its own. index=all counts it; index=some forgets it, so that a second job of the account is accepted
-- meanwhile. Truth expected: index=all right; index=some broken: unique.
--
-- strategy: unseen-wait
-- shape: queue
-- claims: no-duplicate, owner-release, unique
-- option: index = all | some
-- unique: until-done

-- name: setup when index=all
CREATE TABLE sync_job (id bigint PRIMARY KEY, account varchar(40) NOT NULL, args varchar(100),
                       state varchar(10) NOT NULL DEFAULT 'ready', lease int NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX one_open_job ON sync_job (account) WHERE state IN ('ready', 'running', 'waiting');

-- name: setup when index=some
CREATE TABLE sync_job (id bigint PRIMARY KEY, account varchar(40) NOT NULL, args varchar(100),
                       state varchar(10) NOT NULL DEFAULT 'ready', lease int NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX one_open_job ON sync_job (account) WHERE state IN ('ready', 'running');

-- name: put
INSERT INTO sync_job (id, account, args) VALUES (:id, :unique_key, :payload) ON CONFLICT DO NOTHING;

-- name: claim [sqlite]
UPDATE sync_job SET state = 'running', lease = lease + 1
WHERE id = (SELECT id FROM sync_job WHERE state IN ('ready', 'waiting') ORDER BY id LIMIT 1)
RETURNING id, args AS payload, lease AS token;

-- name: claim [postgres]
UPDATE sync_job SET state = 'running', lease = lease + 1
WHERE id = (SELECT id FROM sync_job WHERE state IN ('ready', 'waiting') ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, args AS payload, lease AS token;

-- name: complete
UPDATE sync_job SET state = 'done' WHERE id = :id AND state = 'running' AND lease = :token;

-- name: free
UPDATE sync_job SET state = 'waiting' WHERE id = :id AND state = 'running' AND lease = :token;

-- name: teardown
DROP TABLE sync_job;
