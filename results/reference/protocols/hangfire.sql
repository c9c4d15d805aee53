-- A job in the queue is invisible for a timeout once it was fetched. It is removed by its number (remove=number),
-- or by its number and the moment at which it was fetched (remove=fetched).
-- After Hangfire.PostgreSql's queue. The statements are ours: no code of the library was run, and no version of it
-- is claimed.
-- Expected: number broken: a worker that outlasts the timeout removes the job under the next one: owner-release.
-- fetched right.
--
-- strategy: hangfire
-- shape: queue
-- needs: skip_locked
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: remove = number | fetched

-- name: setup [postgres]
CREATE TABLE jobqueue (id bigint PRIMARY KEY, queue text NOT NULL, job text, fetchedat timestamptz);
CREATE INDEX jobqueue_fetch ON jobqueue (queue, fetchedat, id);

-- name: put [postgres]
INSERT INTO jobqueue (id, queue, job) VALUES (:id, :class, :payload);

-- name: claim [postgres]
UPDATE jobqueue
SET fetchedat = clock_timestamp()
WHERE id = (SELECT id
            FROM jobqueue
            WHERE queue = :class
              AND (fetchedat IS NULL OR fetchedat < clock_timestamp() - :ttl_ms * interval '1 millisecond')
            ORDER BY id
            LIMIT 1
            FOR UPDATE SKIP LOCKED)
RETURNING id, job AS payload, fetchedat::text AS fetched;

-- name: complete [postgres] when remove=number
DELETE FROM jobqueue WHERE id = :id;

-- name: complete [postgres] when remove=fetched
DELETE FROM jobqueue WHERE id = :id AND fetchedat = :fetched::timestamptz;

-- name: free [postgres] when remove=number
UPDATE jobqueue SET fetchedat = NULL WHERE id = :id;

-- name: free [postgres] when remove=fetched
UPDATE jobqueue SET fetchedat = NULL WHERE id = :id AND fetchedat = :fetched::timestamptz;

-- name: teardown [postgres]
DROP TABLE jobqueue;
