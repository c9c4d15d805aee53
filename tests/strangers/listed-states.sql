-- Unique jobs: the insert lists the states in which another job of the key counts. No index enforces that; SQLite has one writer.
-- After Oban's unique jobs. Truth expected: right. At the end of an exploration one item is put and given back. Its put is
-- refused if an item of the key still waits, and the waiting item is still there.
--
-- strategy: listed-states
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release, unique
-- unique: until-done
-- option: rescue_after_ms = 3600000
-- limit: rescue_after_ms
-- summary: unique jobs, with the states listed in the insert

-- name: setup
CREATE TABLE listed_jobs (
  id INTEGER PRIMARY KEY,
  args TEXT NOT NULL,
  uniq TEXT,
  state TEXT NOT NULL DEFAULT 'available'
    CHECK (state IN ('available', 'executing', 'completed', 'discarded')),
  attempt INTEGER NOT NULL DEFAULT 0,
  attempted_ms INTEGER
);
CREATE INDEX listed_jobs_uniq ON listed_jobs (uniq, state);

-- name: put
INSERT INTO listed_jobs (id, args, uniq)
SELECT :id, :payload, :unique_key
 WHERE NOT EXISTS (
   SELECT 1 FROM listed_jobs AS other
    WHERE other.uniq = :unique_key
      AND other.state IN ('available', 'executing'));

-- name: claim
UPDATE listed_jobs
   SET state = 'executing', attempt = attempt + 1, attempted_ms = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
 WHERE id = (SELECT id FROM listed_jobs WHERE state = 'available' ORDER BY id LIMIT 1)
RETURNING id, args AS payload, attempt AS token;

-- name: complete
UPDATE listed_jobs SET state = 'completed'
 WHERE id = :id AND state = 'executing' AND attempt = :token;

-- name: error
UPDATE listed_jobs SET state = 'discarded'
 WHERE id = :id AND state = 'executing' AND attempt = :token;

-- name: free
UPDATE listed_jobs SET state = 'available'
 WHERE id = :id AND state = 'executing' AND attempt = :token;

-- name: recover
UPDATE listed_jobs SET state = 'available'
 WHERE state = 'executing'
   AND attempted_ms < CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - :rescue_after_ms;

-- name: teardown
DROP TABLE listed_jobs;
