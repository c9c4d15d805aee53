-- A cache entry is the lock: insert it, or take it over when it is past. release=looked asks whose it is, and deletes it
-- in a statement of its own: the lease may end in between, and the deleted one is another worker's. release=asked
-- asks in the DELETE. After the locks of caches without an atomic release. Truth expected: asked right; looked
-- broken: exclusive.
--
-- strategy: looked
-- shape: lock
-- claims: exclusive, owner-release, recovery
-- option: release = asked | looked
-- rows: shared

-- name: setup
CREATE TABLE cache_lock (name varchar(60) PRIMARY KEY, owner varchar(60) NOT NULL, until_ms bigint NOT NULL);

-- name: acquire [sqlite,postgres]
INSERT INTO cache_lock (name, owner, until_ms) VALUES (:resource, :worker, :now + :ttl_ms)
ON CONFLICT (name) DO NOTHING;
-- else
UPDATE cache_lock SET owner = :worker, until_ms = :now + :ttl_ms WHERE name = :resource AND until_ms <= :now;

-- name: release when release=asked
DELETE FROM cache_lock WHERE name = :resource AND owner = :worker;

-- name: release when release=looked
-- require: row
SELECT 1 FROM cache_lock WHERE name = :resource AND owner = :worker;
DELETE FROM cache_lock WHERE name = :resource;

-- name: teardown
DROP TABLE cache_lock;
