-- A line that a refused acquire joins: each poll shows that its waiter is alive. swept=holder: only a place that has the
-- lock is removed when its worker was silent for the ttl, so a dead waiter keeps the place behind the holder for ever.
-- Truth expected: swept=all right; swept=holder broken: recovery.
--
-- strategy: polled-line
-- shape: lock
-- claims: exclusive, fenced, owner-release, recovery
-- option: swept = all | holder
-- option: ttl_ms = 20000
-- lease: ttl_ms
-- precision: fine

-- name: setup [sqlite]
CREATE TABLE place (
    no     INTEGER PRIMARY KEY AUTOINCREMENT,
    work   TEXT NOT NULL,
    worker TEXT NOT NULL,
    has_it INTEGER NOT NULL DEFAULT 0,
    at_ms  INTEGER NOT NULL,
    UNIQUE (work, worker)
);

-- name: acquire [sqlite] tx=one begin=immediate commit=always when swept=all
DELETE FROM place
WHERE work = :resource AND at_ms <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - :ttl_ms;
INSERT INTO place (work, worker, at_ms)
VALUES (:resource, :worker, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
ON CONFLICT (work, worker) DO UPDATE SET at_ms = excluded.at_ms WHERE has_it = 0;
UPDATE place SET has_it = 1
WHERE work = :resource AND worker = :worker AND has_it = 0 AND no = (SELECT min(no) FROM place WHERE work = :resource)
RETURNING no AS token;

-- name: acquire [sqlite] tx=one begin=immediate commit=always when swept=holder
DELETE FROM place
WHERE work = :resource AND has_it = 1
  AND at_ms <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - :ttl_ms;
INSERT INTO place (work, worker, at_ms)
VALUES (:resource, :worker, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
ON CONFLICT (work, worker) DO UPDATE SET at_ms = excluded.at_ms WHERE has_it = 0;
UPDATE place SET has_it = 1
WHERE work = :resource AND worker = :worker AND has_it = 0 AND no = (SELECT min(no) FROM place WHERE work = :resource)
RETURNING no AS token;

-- name: release [sqlite]
DELETE FROM place WHERE work = :resource AND worker = :worker AND no = :token;

-- name: cancel [sqlite]
DELETE FROM place WHERE work = :resource AND worker = :worker;

-- name: teardown [sqlite]
DROP TABLE place;
