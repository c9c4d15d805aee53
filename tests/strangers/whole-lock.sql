-- A lock in whole seconds, as caches and frameworks write it: expiration is the second in which it ends.
-- free=past takes an expired one; free=young has the comparison the wrong way round. After Laravel's database
-- locks. Truth expected: past right, though a lease of ten seconds may be one of nine; young broken:
-- exclusive.
-- precision: seconds
-- strategy: whole-lock
-- shape: lock
-- claims: exclusive, owner-release, recovery
-- option: seconds = 10
-- option: free = past | young
-- lease: seconds in s
-- rows: shared

-- name: setup
CREATE TABLE cache_lock (name varchar(100) PRIMARY KEY, owner varchar(100) NOT NULL, expiration bigint NOT NULL);

-- name: acquire [sqlite] when free=past
INSERT INTO cache_lock (name, owner, expiration) VALUES (:resource, :worker, :now / 1000 + :seconds) ON CONFLICT DO NOTHING;
-- else
UPDATE cache_lock SET owner = :worker, expiration = :now / 1000 + :seconds
WHERE name = :resource AND (owner = :worker OR expiration <= :now / 1000);

-- name: acquire [sqlite] when free=young
INSERT INTO cache_lock (name, owner, expiration) VALUES (:resource, :worker, :now / 1000 + :seconds) ON CONFLICT DO NOTHING;
-- else
UPDATE cache_lock SET owner = :worker, expiration = :now / 1000 + :seconds
WHERE name = :resource AND (owner = :worker OR expiration >= :now / 1000);

-- name: release
DELETE FROM cache_lock WHERE name = :resource AND owner = :worker;

-- name: teardown
DROP TABLE cache_lock;
