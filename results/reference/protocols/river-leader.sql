-- One row says who leads and until when. Leaders re-elect themselves: by the row's name (reelect=name), or by name
-- and leader while the term lasts (reelect=leader). Resigning asks for the leader.
-- After River's leader election. The statements are ours: no code of the library was run, and no version of it is
-- claimed.
-- Expected: name broken: who was late prolongs his successor's term and goes on to lead: exclusive. leader right.
--
-- strategy: leader
-- shape: lock
-- claims: exclusive, owner-release, recovery
-- option: reelect = name | leader

-- name: setup [postgres]
CREATE UNLOGGED TABLE leader (name text PRIMARY KEY, leader_id text NOT NULL, elected_at timestamptz NOT NULL,
                              expires_at timestamptz NOT NULL);

-- name: acquire [postgres]
INSERT INTO leader AS l (name, leader_id, elected_at, expires_at)
VALUES (:resource, :worker, clock_timestamp(), clock_timestamp() + :ttl_ms * interval '1 millisecond')
ON CONFLICT (name) DO UPDATE
SET leader_id = :worker, elected_at = clock_timestamp(),
    expires_at = clock_timestamp() + :ttl_ms * interval '1 millisecond'
WHERE l.expires_at < clock_timestamp();

-- name: renew [postgres] when reelect=name
UPDATE leader SET expires_at = clock_timestamp() + :ttl_ms * interval '1 millisecond' WHERE name = :resource;

-- name: renew [postgres] when reelect=leader
UPDATE leader SET expires_at = clock_timestamp() + :ttl_ms * interval '1 millisecond'
WHERE name = :resource AND leader_id = :worker AND expires_at > clock_timestamp();

-- name: release [postgres]
DELETE FROM leader WHERE name = :resource AND leader_id = :worker;

-- name: teardown [postgres]
DROP TABLE leader;
