-- Jobs that are due some time after they were put: a second put would put them off again. claim=due waits for it.
-- claim=newer takes only what was put after the last one that it took, so that what is given back never comes again.
-- Truth expected: claim=due right, with any delay; claim=newer with no delay broken: no-loss.
--
-- strategy: delayed
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release
-- needs: returning
-- option: quiet_ms = 3000 (how long nobody may put the job again before it is due)
-- option: claim = due | newer
-- due: quiet_ms

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload text, due_ms bigint NOT NULL, state varchar(8) NOT NULL DEFAULT 'due',
    owner varchar(64));
CREATE TABLE position (last bigint NOT NULL);
INSERT INTO position (last) VALUES (0);

-- name: put
INSERT INTO job (id, payload, due_ms) VALUES (:id, :payload, :now + :quiet_ms)
ON CONFLICT (id) DO UPDATE SET due_ms = excluded.due_ms;

-- name: claim when claim=due
UPDATE job SET state = 'run', owner = :worker
WHERE id = (SELECT id FROM job WHERE state = 'due' AND due_ms <= :now ORDER BY due_ms, id LIMIT 1)
RETURNING id, payload;

-- name: claim when claim=newer tx=one begin=immediate
-- require: row
SELECT id AS next FROM job, position WHERE state = 'due' AND due_ms <= :now AND id > last ORDER BY id LIMIT 1;
UPDATE position SET last = :next;
UPDATE job SET state = 'run', owner = :worker WHERE id = :next RETURNING id, payload;

-- name: complete
UPDATE job SET state = 'end' WHERE id = :id AND state = 'run' AND owner = :worker;

-- name: free
UPDATE job SET state = 'due', owner = NULL WHERE id = :id AND state = 'run' AND owner = :worker;

-- name: teardown
DROP TABLE position;
DROP TABLE job;
