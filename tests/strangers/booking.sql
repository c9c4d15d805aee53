-- A lease that its holder renews in two statements. renew=one: they are one transaction; renew=two: the lease may end between
-- them, and the second one then prolongs that of another worker.
-- Truth expected: one right; two broken: exclusive.
--
-- strategy: booking
-- shape: lock
-- claims: exclusive, owner-release
-- option: stay_ms = 1200
-- option: renew = one | two
-- lease: stay_ms
-- rows: shared

-- name: setup
CREATE TABLE room (name TEXT PRIMARY KEY, guest TEXT, booking INTEGER NOT NULL DEFAULT 0, leaves REAL NOT NULL DEFAULT 0);

-- name: resource
INSERT INTO room (name) VALUES (:resource);

-- name: acquire
UPDATE room SET guest = :worker, booking = booking + 1, leaves = julianday('now') + :stay_ms / 86400000.0
WHERE name = :resource AND (guest IS NULL OR leaves <= julianday('now'))
RETURNING booking AS mine;

-- name: renew tx=one begin=immediate when renew=one
-- require: row
SELECT booking AS seen FROM room
WHERE name = :resource AND guest = :worker AND booking = :mine AND leaves > julianday('now');
UPDATE room SET leaves = julianday('now') + :stay_ms / 86400000.0 WHERE name = :resource AND booking >= :seen;

-- name: renew when renew=two
-- require: row
SELECT booking AS seen FROM room
WHERE name = :resource AND guest = :worker AND booking = :mine AND leaves > julianday('now');
UPDATE room SET leaves = julianday('now') + :stay_ms / 86400000.0 WHERE name = :resource AND booking >= :seen;

-- name: release
UPDATE room SET guest = NULL WHERE name = :resource AND guest = :worker AND booking = :mine;

-- name: teardown
DROP TABLE room;
