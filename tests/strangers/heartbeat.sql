-- Processes register, and say again and again that they are alive; jobs name the process that has them. A rescuer
-- removes the processes without a beat for too long, and frees the jobs of unregistered ones. rescue=old frees
-- by the time of the claim instead: also what processes have that are alive. beat=host speaks for all
-- processes of a machine: a dead one's jobs are never freed. sweep=host frees at its start all that its
-- machine's processes have, as if it were alone there. leave=host signs off all processes of its machine.
-- free=parted gives a job back in two commits: it is lost if its process dies in between. After the heartbeats of river, solid_queue, oban and
-- delayed_job. Truth expected: right as it is; rescue=old, sweep=host and leave=host broken: no-duplicate;
-- beat=host broken: recovery; free=parted broken: no-loss.
-- limit: alive_ms
-- strategy: heartbeat
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: alive_ms = 300000 (how long a process counts as alive without being heard of)
-- option: rescue = silent | old
-- option: beat = own | host
-- option: sweep = gone | host
-- option: leave = own | host
-- option: free = one | parted

-- name: setup [sqlite]
CREATE TABLE process (name text PRIMARY KEY, host text NOT NULL, beat_at real NOT NULL);
CREATE TABLE job (
    id integer PRIMARY KEY,
    args text,
    state text NOT NULL DEFAULT 'available',
    attempt integer NOT NULL DEFAULT 0,
    attempted_at real,
    process text,
    host text
);

-- name: setup [postgres]
CREATE TABLE process (name text PRIMARY KEY, host text NOT NULL, beat_at timestamptz NOT NULL);
CREATE TABLE job (
    id bigint PRIMARY KEY,
    args text,
    state text NOT NULL DEFAULT 'available',
    attempt int NOT NULL DEFAULT 0,
    attempted_at timestamptz,
    process text,
    host text
);

-- name: put
INSERT INTO job (id, args) VALUES (:id, :payload);

-- name: sweep when sweep=gone
UPDATE job SET state = 'available'
WHERE state = 'executing' AND NOT EXISTS (SELECT 1 FROM process WHERE process.name = job.process);

-- name: sweep when sweep=host
UPDATE job SET state = 'available' WHERE state = 'executing' AND host = :host;

-- name: register [sqlite]
INSERT INTO process (name, host, beat_at) VALUES (:process, :host, julianday('now'))
ON CONFLICT (name) DO UPDATE SET beat_at = julianday('now');

-- name: register [postgres]
INSERT INTO process (name, host, beat_at) VALUES (:process, :host, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET beat_at = clock_timestamp();

-- name: heartbeat [sqlite] when beat=own
UPDATE process SET beat_at = julianday('now') WHERE name = :process;

-- name: heartbeat [sqlite] when beat=host
UPDATE process SET beat_at = julianday('now') WHERE host = :host;

-- name: heartbeat [postgres] when beat=own
UPDATE process SET beat_at = clock_timestamp() WHERE name = :process;

-- name: heartbeat [postgres] when beat=host
UPDATE process SET beat_at = clock_timestamp() WHERE host = :host;

-- name: unregister when leave=own
DELETE FROM process WHERE name = :process;

-- name: unregister when leave=host
DELETE FROM process WHERE host = :host;

-- name: claim [sqlite]
UPDATE job SET state = 'executing', attempt = attempt + 1, attempted_at = julianday('now'),
    process = :process, host = :host
WHERE id IN (SELECT id FROM job WHERE state = 'available' ORDER BY id LIMIT :n)
RETURNING id, args AS payload, attempt AS token;

-- name: claim [postgres]
UPDATE job SET state = 'executing', attempt = attempt + 1, attempted_at = clock_timestamp(),
    process = :process, host = :host
WHERE id = ANY (ARRAY (SELECT id FROM job WHERE state = 'available' ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED))
RETURNING id, args AS payload, attempt AS token;

-- name: complete
UPDATE job SET state = 'completed' WHERE id = :id AND state = 'executing' AND attempt = :token;

-- name: free when free=one
UPDATE job SET state = 'available' WHERE id = :id AND state = 'executing' AND attempt = :token;

-- name: free when free=parted
UPDATE job SET state = 'freed' WHERE id = :id AND state = 'executing' AND attempt = :token;
UPDATE job SET state = 'available' WHERE id = :id AND state = 'freed' AND attempt = :token;

-- name: recover [sqlite] tx=one when rescue=silent
DELETE FROM process WHERE beat_at < julianday('now') - :alive_ms / 86400000.0;
UPDATE job SET state = 'available'
WHERE state = 'executing' AND NOT EXISTS (SELECT 1 FROM process WHERE process.name = job.process);

-- name: recover [sqlite] when rescue=old
UPDATE job SET state = 'available'
WHERE state = 'executing' AND attempted_at < julianday('now') - :alive_ms / 86400000.0;

-- name: recover [postgres] tx=one when rescue=silent
DELETE FROM process WHERE beat_at < clock_timestamp() - :alive_ms * interval '1 millisecond';
UPDATE job SET state = 'available'
WHERE state = 'executing' AND NOT EXISTS (SELECT 1 FROM process WHERE process.name = job.process);

-- name: recover [postgres] when rescue=old
UPDATE job SET state = 'available'
WHERE state = 'executing' AND attempted_at < clock_timestamp() - :alive_ms * interval '1 millisecond';

-- name: teardown
DROP TABLE job;
DROP TABLE process;
