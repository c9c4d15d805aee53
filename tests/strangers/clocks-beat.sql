-- Processes say that they are alive, and a rescuer frees what the silent ones had. clock=server writes and reads these
-- times by the server's clock: right. clock=mixed writes them by the process's own (as libraries do that bind the time in
-- their own language), and the rescuer asks the server's: a machine whose clock is behind is dead to it, and works on.
-- Truth expected: server right; mixed broken: no-duplicate.
--
-- strategy: clocks-beat
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release
-- option: alive_ms = 300000
-- limit: alive_ms
-- option: clock = server | mixed

-- name: setup
CREATE TABLE process (name varchar(60) PRIMARY KEY, beat_ms double precision NOT NULL);
CREATE TABLE job (id bigint PRIMARY KEY, args text, state varchar(20) NOT NULL DEFAULT 'available',
    attempt int NOT NULL DEFAULT 0, process varchar(60));

-- name: put
INSERT INTO job (id, args) VALUES (:id, :payload);

-- name: register [sqlite] when clock=server
INSERT INTO process (name, beat_ms) VALUES (:process, (julianday('now') - 2440587.5) * 86400000)
ON CONFLICT (name) DO UPDATE SET beat_ms = excluded.beat_ms;

-- name: register [postgres] when clock=server
INSERT INTO process (name, beat_ms) VALUES (:process, extract(epoch FROM clock_timestamp()) * 1000)
ON CONFLICT (name) DO UPDATE SET beat_ms = excluded.beat_ms;

-- name: register [sqlite,postgres] when clock=mixed
INSERT INTO process (name, beat_ms) VALUES (:process, :now)
ON CONFLICT (name) DO UPDATE SET beat_ms = excluded.beat_ms;

-- name: heartbeat [sqlite] when clock=server
UPDATE process SET beat_ms = (julianday('now') - 2440587.5) * 86400000 WHERE name = :process;

-- name: heartbeat [postgres] when clock=server
UPDATE process SET beat_ms = extract(epoch FROM clock_timestamp()) * 1000 WHERE name = :process;

-- name: heartbeat [sqlite,postgres] when clock=mixed
UPDATE process SET beat_ms = :now WHERE name = :process;

-- name: unregister
DELETE FROM process WHERE name = :process;

-- name: claim [sqlite]
UPDATE job SET state = 'executing', attempt = attempt + 1, process = :process
WHERE id IN (SELECT id FROM job WHERE state = 'available' ORDER BY id LIMIT :n)
RETURNING id, args AS payload, attempt AS token;

-- name: claim [postgres]
UPDATE job SET state = 'executing', attempt = attempt + 1, process = :process
WHERE id = ANY (ARRAY (SELECT id FROM job WHERE state = 'available' ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED))
RETURNING id, args AS payload, attempt AS token;

-- name: complete
UPDATE job SET state = 'completed' WHERE id = :id AND state = 'executing' AND attempt = :token;

-- name: recover [sqlite] tx=one
DELETE FROM process WHERE beat_ms < (julianday('now') - 2440587.5) * 86400000 - :alive_ms;
UPDATE job SET state = 'available'
WHERE state = 'executing' AND NOT EXISTS (SELECT 1 FROM process WHERE process.name = job.process);

-- name: recover [postgres] tx=one
DELETE FROM process WHERE beat_ms < extract(epoch FROM clock_timestamp()) * 1000 - :alive_ms;
UPDATE job SET state = 'available'
WHERE state = 'executing' AND NOT EXISTS (SELECT 1 FROM process WHERE process.name = job.process);

-- name: teardown
DROP TABLE job;
DROP TABLE process;
