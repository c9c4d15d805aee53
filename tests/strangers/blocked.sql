-- One item of each group at a time: a group's permit is a row; an item without one is put among the blocked, and each
-- end of an item lets the next one in. Claims belong to processes. permit=locked locks the permit first; permit=read
-- looks at it, and by the time it has put its item among the blocked the last one of the group may have ended: none is
-- left to let it in. After solid_queue's concurrency controls. Truth expected: locked right, also where a process that
-- lives on lost a connection with an item in hand: the rest of its group waits, and is not lost; read broken: no-loss.
--
-- strategy: blocked
-- shape: queue
-- needs: skip_locked
-- claims: no-duplicate, no-loss, group-exclusive, recovery
-- option: alive_ms = 300000
-- limit: alive_ms
-- option: permit = locked | read

-- name: setup [postgres]
CREATE TABLE job (id bigint PRIMARY KEY, permit text NOT NULL, args text, state text NOT NULL, process text);
CREATE TABLE permit (name text PRIMARY KEY, free int NOT NULL DEFAULT 1);
CREATE TABLE process (name text PRIMARY KEY, beat_at timestamptz NOT NULL);

-- name: put [postgres] tx=one when permit=locked
INSERT INTO permit (name) VALUES (:group) ON CONFLICT DO NOTHING;
SELECT free FROM permit WHERE name = :group FOR UPDATE;
UPDATE permit SET free = free - 1 WHERE name = :group AND free > 0;
-- if: row
INSERT INTO job (id, permit, args, state) VALUES (:id, :group, :payload, 'ready');
-- else
INSERT INTO job (id, permit, args, state) VALUES (:id, :group, :payload, 'blocked');

-- name: put [postgres] tx=one when permit=read
INSERT INTO permit (name) VALUES (:group) ON CONFLICT DO NOTHING;
UPDATE permit SET free = free - 1 WHERE name = :group AND free > 0;
-- if: row
INSERT INTO job (id, permit, args, state) VALUES (:id, :group, :payload, 'ready');
-- else
INSERT INTO job (id, permit, args, state) VALUES (:id, :group, :payload, 'blocked');

-- name: claim [postgres]
UPDATE job SET state = 'taken', process = :process
WHERE id = (SELECT id FROM job WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, args AS payload;

-- name: complete [postgres] tx=one
-- answer: row
-- require: row
UPDATE job SET state = 'done' WHERE id = :id AND state = 'taken' AND process = :process;
UPDATE permit SET free = free + 1 WHERE name = (SELECT permit FROM job WHERE id = :id);
WITH next AS (SELECT id, permit FROM job WHERE state = 'blocked' AND permit = (SELECT permit FROM job WHERE id = :id)
              ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED),
let_in AS (UPDATE permit SET free = free - 1 FROM next WHERE name = next.permit AND free > 0 RETURNING next.id)
UPDATE job SET state = 'ready' FROM let_in WHERE job.id = let_in.id;

-- name: register [postgres]
INSERT INTO process (name, beat_at) VALUES (:process, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET beat_at = clock_timestamp();

-- name: heartbeat [postgres]
UPDATE process SET beat_at = clock_timestamp() WHERE name = :process;

-- name: unregister [postgres]
DELETE FROM process WHERE name = :process;

-- name: recover [postgres] tx=one
DELETE FROM process WHERE beat_at < clock_timestamp() - :alive_ms * interval '1 millisecond';
UPDATE job SET state = 'ready' WHERE state = 'taken' AND process NOT IN (SELECT name FROM process);

-- name: teardown
DROP TABLE job, permit, process;
