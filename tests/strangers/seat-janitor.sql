-- Seats that a janitor frees. It reads an old seat and frees it in another commit: free=seen frees that taking of the seat
-- alone, free=number frees the seat, which another worker may have by then.
-- Truth expected: seen right; number broken: exclusive.
--
-- strategy: seat-janitor
-- shape: lock
-- claims: exclusive
-- option: quiet_ms = 5000
-- option: free = seen | number
-- limit: quiet_ms
-- rows: shared

-- name: setup
CREATE TABLE seat (name TEXT NOT NULL, n INTEGER NOT NULL, sitter TEXT, taken INTEGER NOT NULL DEFAULT 0, since REAL,
                   PRIMARY KEY (name, n));

-- name: resource
INSERT INTO seat (name, n)
WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < :capacity) SELECT :resource, i FROM k;

-- name: acquire
-- require: row
UPDATE seat SET sitter = :worker, taken = taken + 1, since = julianday('now')
WHERE name = :resource AND n = (SELECT min(n) FROM seat WHERE name = :resource AND sitter IS NULL) AND sitter IS NULL
RETURNING n AS seat, taken AS mine;

-- name: release
UPDATE seat SET sitter = NULL WHERE name = :resource AND n = :seat AND sitter = :worker AND taken = :mine;

-- name: recover when free=seen
-- require: row
SELECT name AS old_name, n AS old_seat, taken AS old_taken FROM seat
WHERE sitter IS NOT NULL AND since < julianday('now') - :quiet_ms / 86400000.0 ORDER BY since LIMIT 1;
UPDATE seat SET sitter = NULL WHERE name = :old_name AND n = :old_seat AND taken = :old_taken;

-- name: recover when free=number
-- require: row
SELECT name AS old_name, n AS old_seat FROM seat
WHERE sitter IS NOT NULL AND since < julianday('now') - :quiet_ms / 86400000.0 ORDER BY since LIMIT 1;
UPDATE seat SET sitter = NULL WHERE name = :old_name AND n = :old_seat;

-- name: teardown
DROP TABLE seat;
