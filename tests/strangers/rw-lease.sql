-- A row for each holder, reader or writer, with a lease. end=all: the last word of a reader takes whatever row there is.
-- Truth expected: end=own right; end=all broken: a reader that is too slow takes a writer's row away: exclusive.
--
-- strategy: rw-lease
-- shape: lock
-- claims: exclusive
-- option: end = own | all
-- option: ttl_ms = 30000

-- name: setup [sqlite]
CREATE TABLE held (work TEXT NOT NULL, holder TEXT NOT NULL, is_shared INTEGER NOT NULL, until_ms INTEGER NOT NULL);

-- name: acquire [sqlite] tx=one begin=immediate
DELETE FROM held WHERE work = :resource AND until_ms <= :now;
INSERT INTO held (work, holder, is_shared, until_ms)
SELECT :resource, :worker, :mode = 'shared', :now + :ttl_ms
WHERE NOT EXISTS (SELECT 1 FROM held WHERE work = :resource AND (:mode = 'exclusive' OR NOT is_shared));

-- name: release [sqlite] when end=own
DELETE FROM held WHERE work = :resource AND holder = :worker;

-- name: release [sqlite] when end=all
DELETE FROM held WHERE work = :resource AND (holder = :worker OR :mode = 'shared');

-- name: teardown [sqlite]
DROP TABLE held;
