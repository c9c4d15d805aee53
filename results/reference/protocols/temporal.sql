-- A shard has an owner, a lease and a range number, which fences its writes. bump=handover counts up when another
-- owner takes the shard, bump=always with each grant.
-- After Temporal's shard ownership (RangeID). The statements are ours: no code of the library was run, and no
-- version of it is claimed.
-- Expected: handover broken: who takes a shard twice in a row gets the same token twice: fenced. always right.
--
-- strategy: temporal
-- shape: lock
-- claims: exclusive, fenced, owner-release, recovery
-- option: bump = handover | always

-- name: setup [postgres]
CREATE TABLE shards (shard text PRIMARY KEY, range_id bigint NOT NULL DEFAULT 0, owner text,
                     owned_until timestamptz NOT NULL DEFAULT '1970-01-01');

-- name: resource [postgres]
INSERT INTO shards (shard) VALUES (:resource);

-- name: acquire [postgres] when bump=handover
UPDATE shards
SET range_id = range_id + CASE WHEN owner = :worker THEN 0 ELSE 1 END, owner = :worker,
    owned_until = clock_timestamp() + :ttl_ms * interval '1 millisecond'
WHERE shard = :resource AND owned_until <= clock_timestamp()
RETURNING range_id AS token;

-- name: acquire [postgres] when bump=always
UPDATE shards
SET range_id = range_id + 1, owner = :worker,
    owned_until = clock_timestamp() + :ttl_ms * interval '1 millisecond'
WHERE shard = :resource AND owned_until <= clock_timestamp()
RETURNING range_id AS token;

-- name: release [postgres]
UPDATE shards SET owned_until = '1970-01-01'
WHERE shard = :resource AND owner = :worker AND range_id = :token AND owned_until > clock_timestamp();

-- name: teardown [postgres]
DROP TABLE shards;
