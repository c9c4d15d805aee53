-- A lease with a number of the grant. The number counts within each lock, so that two locks may have the same one.
-- Truth expected: release=own right; release=number ends each lock that has the number: a worker that has two locks
-- loses the other one: exclusive broken.
--
-- strategy: two-locks
-- shape: lock
-- claims: exclusive
-- option: release = own | number
-- option: ttl_ms = 30000

-- name: setup
CREATE TABLE held (work varchar(100) PRIMARY KEY, holder varchar(100), number integer NOT NULL DEFAULT 0,
                   until_ms bigint NOT NULL DEFAULT 0);
-- name: resource
INSERT INTO held (work) VALUES (:resource);

-- name: acquire
UPDATE held SET holder = :worker, number = number + 1, until_ms = :now + :ttl_ms
WHERE work = :resource AND until_ms <= :now RETURNING number AS token;

-- name: release when release=own
UPDATE held SET holder = NULL, until_ms = 0 WHERE work = :resource AND holder = :worker AND number = :token;
-- name: release when release=number
UPDATE held SET holder = NULL, until_ms = 0 WHERE number = :token;

-- name: teardown
DROP TABLE held;
