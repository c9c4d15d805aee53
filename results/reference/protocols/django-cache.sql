-- A lock is a key in a cache that is kept in a table: adding it fails while it is there and not over; letting go
-- deletes the key, by its name (delete=key) or by name and value (delete=value).
-- After Django's cache.add and cache.delete with the database cache. The statements are ours: no code of the
-- library was run, and no version of it is claimed.
-- Expected: key broken: who outlasts the timeout deletes the next one's key, and a third gets in: owner-release,
-- exclusive. value right.
--
-- strategy: cache-add
-- shape: lock
-- claims: exclusive, owner-release, recovery
-- option: delete = key | value

-- name: setup [mariadb]
CREATE TABLE cache (cache_key varchar(64) PRIMARY KEY, value varchar(64) NOT NULL, expires datetime(6) NOT NULL);

-- name: setup [postgres]
CREATE TABLE cache (cache_key text PRIMARY KEY, value text NOT NULL, expires timestamptz NOT NULL);

-- name: acquire [mariadb]
-- on-error: busy
DELETE FROM cache WHERE cache_key = :resource AND expires <= SYSDATE(6);
INSERT INTO cache (cache_key, value, expires)
VALUES (:resource, :worker, SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND);

-- name: acquire [postgres]
-- on-error: busy
DELETE FROM cache WHERE cache_key = :resource AND expires <= clock_timestamp();
INSERT INTO cache (cache_key, value, expires)
VALUES (:resource, :worker, clock_timestamp() + :ttl_ms * interval '1 millisecond');

-- name: release [mariadb, postgres] when delete=key
-- on-error: retry
DELETE FROM cache WHERE cache_key = :resource;

-- name: release [mariadb, postgres] when delete=value
-- on-error: retry
DELETE FROM cache WHERE cache_key = :resource AND value = :worker;

-- name: teardown [mariadb, postgres]
DROP TABLE cache;
