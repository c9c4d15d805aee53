-- A semaphore of leases by the workers' clocks, also in permits. It is correct.
-- strategy: permits-by-now
-- shape: lock
-- claims: exclusive, owner-release, permits, recovery
-- lease: ttl_ms
-- rows: own
-- name: setup
CREATE TABLE holder (name TEXT NOT NULL, worker TEXT NOT NULL, until_ms INTEGER NOT NULL, PRIMARY KEY (name, worker));
CREATE TABLE size (name TEXT PRIMARY KEY, cap INTEGER NOT NULL);
-- name: resource
INSERT INTO size VALUES (:resource, :capacity);
-- name: acquire
INSERT INTO holder (name, worker, until_ms) SELECT :resource, :worker, :now + :ttl_ms
WHERE (SELECT count(*) FROM holder WHERE name = :resource AND until_ms > :now AND worker <> :worker) < (SELECT cap FROM size WHERE name = :resource)
ON CONFLICT (name, worker) DO UPDATE SET until_ms = excluded.until_ms;
-- name: renew
UPDATE holder SET until_ms = :now + :ttl_ms WHERE name = :resource AND worker = :worker AND until_ms > :now;
-- name: release
DELETE FROM holder WHERE name = :resource AND worker = :worker;
-- name: permits
SELECT (SELECT cap FROM size WHERE name = :resource) - (SELECT count(*) FROM holder WHERE name = :resource AND until_ms > :now) AS free;
-- name: teardown
DROP TABLE holder;
DROP TABLE size;
