-- A lock that only recover takes from the dead: acquire asks for a free row, and compares no time. sweep=silent compares the
-- holder's last sign of life; sweep=old compares the grant, so that a holder that renews loses its lock as well. Truth expected:
-- silent right; old broken: exclusive.
--
-- strategy: silent
-- shape: lock
-- claims: exclusive, owner-release, fenced, recovery
-- option: ttl_ms = 2000 (a holder that is silent for as long is dead)
-- option: sweep = silent | old
-- lease: ttl_ms
-- limit: ttl_ms
-- rows: shared
-- precision: fine

-- name: setup [sqlite]
CREATE TABLE job_lock (
    name TEXT PRIMARY KEY,
    owner TEXT,
    fence INTEGER NOT NULL DEFAULT 0,
    locked_ms INTEGER,
    beat_ms INTEGER
);

-- name: resource [sqlite]
INSERT INTO job_lock (name) VALUES (:resource);

-- name: acquire [sqlite]
UPDATE job_lock
SET owner = :worker, fence = fence + 1,
    locked_ms = CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER),
    beat_ms = CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)
WHERE name = :resource AND owner IS NULL
RETURNING fence AS token;

-- name: renew [sqlite]
UPDATE job_lock SET beat_ms = CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)
WHERE name = :resource AND owner = :worker AND fence = :token;

-- name: release [sqlite]
UPDATE job_lock SET owner = NULL
WHERE name = :resource AND owner = :worker AND fence = :token;

-- name: recover [sqlite] when sweep=silent
UPDATE job_lock SET owner = NULL
WHERE owner IS NOT NULL
  AND beat_ms <= CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) - :ttl_ms;

-- name: recover [sqlite] when sweep=old
UPDATE job_lock SET owner = NULL
WHERE owner IS NOT NULL
  AND locked_ms <= CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) - :ttl_ms;

-- name: teardown [sqlite]
DROP TABLE job_lock;
