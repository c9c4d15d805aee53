-- A semaphore that counts the permits in use. The janitor takes old holders off, and their permits. give=any gives a permit back also if the
-- janitor has done so before.
-- Truth expected: give=row right; give=any broken: exclusive.
--
-- strategy: semaphore-count
-- shape: lock
-- claims: exclusive
-- option: quiet_ms = 5000
-- option: give = row | any
-- limit: quiet_ms
-- rows: shared

-- name: setup
CREATE TABLE semaphore (name TEXT PRIMARY KEY, used INTEGER NOT NULL DEFAULT 0);
CREATE TABLE holder (name TEXT NOT NULL, worker TEXT NOT NULL, since REAL, PRIMARY KEY (name, worker));

-- name: resource
INSERT INTO semaphore (name) VALUES (:resource);

-- name: acquire tx=one begin=immediate
-- require: row
UPDATE semaphore SET used = used + 1 WHERE name = :resource AND used < :capacity;
-- require: row
INSERT INTO holder (name, worker, since) VALUES (:resource, :worker, julianday('now')) ON CONFLICT DO NOTHING;

-- name: release tx=one begin=immediate when give=row
-- require: row
DELETE FROM holder WHERE name = :resource AND worker = :worker;
UPDATE semaphore SET used = used - 1 WHERE name = :resource AND used > 0;

-- name: release tx=one begin=immediate when give=any
DELETE FROM holder WHERE name = :resource AND worker = :worker;
UPDATE semaphore SET used = used - 1 WHERE name = :resource AND used > 0;

-- name: recover tx=one begin=immediate
UPDATE semaphore SET used = used - (SELECT count(*) FROM holder AS h WHERE h.name = semaphore.name
                                    AND h.since < julianday('now') - :quiet_ms / 86400000.0);
DELETE FROM holder WHERE since < julianday('now') - :quiet_ms / 86400000.0;

-- name: teardown
DROP TABLE holder;
DROP TABLE semaphore;
