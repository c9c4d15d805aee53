-- The upsert lease of ShedLock: one row per lock, taken over when its time is up.
--
-- As in its JDBC provider: try to insert the row; if it is there, take it over with an UPDATE that
-- asks for an expired lock_until. ShedLock does the two in two statements; ON CONFLICT does them in
-- one. Its release sets lock_until to now for the row of the lock's name and holder, which keeps a
-- late holder from ending its successor's lease. It has no fence: no check refuses the writes of a
-- holder after its lease is over.
--
--   lockbench verify -s ./examples/shedlock.sql -d sqlite: -d postgresql://...
--
-- strategy: shedlock
-- shape: lock
-- summary: the upsert lease of ShedLock
-- origin: ShedLock, JdbcTemplateLockProvider (github.com/lukas-krecan/ShedLock)
-- claims: exclusive, owner-release, progress, recovery
-- option: ttl_ms = 30000 (lockAtMostFor: the lease of a holder that does not come back)
-- rows: shared

-- name: setup [postgres]
CREATE TABLE shedlock (
    name text PRIMARY KEY,
    lock_until timestamptz NOT NULL,
    locked_at timestamptz NOT NULL,
    locked_by text NOT NULL
);

-- name: setup [sqlite]
CREATE TABLE shedlock (
    name TEXT PRIMARY KEY,
    lock_until REAL NOT NULL,
    locked_at REAL NOT NULL,
    locked_by TEXT NOT NULL
);

-- name: acquire [postgres]
INSERT INTO shedlock (name, lock_until, locked_at, locked_by)
VALUES (:resource, clock_timestamp() + :ttl_ms * interval '1 millisecond', clock_timestamp(), :worker)
ON CONFLICT (name) DO UPDATE
SET lock_until = clock_timestamp() + :ttl_ms * interval '1 millisecond',
    locked_at = clock_timestamp(),
    locked_by = :worker
WHERE shedlock.lock_until <= clock_timestamp();

-- name: acquire [sqlite]
INSERT INTO shedlock (name, lock_until, locked_at, locked_by)
VALUES (:resource, julianday('now') + :ttl_ms / 86400000.0, julianday('now'), :worker)
ON CONFLICT (name) DO UPDATE
SET lock_until = julianday('now') + :ttl_ms / 86400000.0,
    locked_at = julianday('now'),
    locked_by = :worker
WHERE shedlock.lock_until <= julianday('now');

-- name: release [postgres]
UPDATE shedlock SET lock_until = clock_timestamp()
WHERE name = :resource AND locked_by = :worker AND lock_until > clock_timestamp();

-- name: release [sqlite]
UPDATE shedlock SET lock_until = julianday('now')
WHERE name = :resource AND locked_by = :worker AND lock_until > julianday('now');

-- name: teardown
DROP TABLE shedlock;
