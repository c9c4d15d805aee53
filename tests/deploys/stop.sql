-- strategy: stop
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release, recovery
-- option: stops = gives-back | drops
-- option: ended = own | any
-- option: claim_ms = 30000
-- limit: claim_ms
-- summary: a worker that is asked to stop leaves what it has to section stop; stops=drops strands it; ended=any ends what another has

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload varchar(100), state varchar(10) NOT NULL DEFAULT 'ready',
                  worker varchar(100), at_ms bigint, claims int NOT NULL DEFAULT 0);

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE job SET state = 'taken', worker = :worker, at_ms = :now, claims = claims + 1
WHERE id = (SELECT id FROM job WHERE state = 'ready' ORDER BY id LIMIT 1) AND state = 'ready'
RETURNING id, payload, claims AS token;

-- name: claim [postgres]
UPDATE job SET state = 'taken', worker = :worker, at_ms = :now, claims = claims + 1
WHERE id = (SELECT id FROM job WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload, claims AS token;

-- name: complete when ended=own
UPDATE job SET state = 'done' WHERE id = :id AND state = 'taken' AND worker = :worker AND claims = :token;

-- name: complete when ended=any
UPDATE job SET state = 'done' WHERE id = :id AND state = 'taken';

-- name: stop when stops=gives-back
UPDATE job SET state = 'ready', worker = NULL WHERE worker = :worker AND state = 'taken';

-- The job has no worker and no time any more, so no recovery finds it.
-- name: stop when stops=drops
UPDATE job SET worker = NULL, at_ms = NULL WHERE worker = :worker AND state = 'taken';

-- name: recover
UPDATE job SET state = 'ready', worker = NULL WHERE state = 'taken' AND at_ms < :now - :claim_ms;

-- name: teardown
DROP TABLE job;
