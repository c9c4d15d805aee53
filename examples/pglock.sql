-- The version lease of pglock: no clock is compared with another one.
--
-- The holder moves the row's version while it lives (renew). A waiter remembers the version that it
-- saw, and when, by its own clock: if the version is the same a whole lease later, the holder is
-- dead, and the row is taken by an UPDATE with a condition on that version. The columns of enqueue
-- and acquire, `seen` and `seen_at`, are remembered between two polls.
--
--   lockbench run -s ./examples/pglock.sql -d postgresql://... -S mutex-hot
--
-- strategy: pglock
-- shape: lock
-- summary: the version lease of pglock
-- origin: pglock (cirello.io/pglock), after the DynamoDB lock client
-- claims: exclusive, fenced, owner-release, progress, recovery
-- option: ttl_ms = 2000 (lease: how long a version has to stand still)

-- name: setup [postgres]
CREATE SEQUENCE lock_rvn;
CREATE TABLE locks (
    name text PRIMARY KEY,
    record_version_number bigint NOT NULL,
    owner text
);

-- name: resource [postgres]
INSERT INTO locks (name, record_version_number) VALUES (:resource, nextval('lock_rvn'));

-- name: enqueue [postgres]
SELECT record_version_number AS seen, :now::bigint AS seen_at FROM locks WHERE name = :resource;

-- name: acquire [postgres]
-- require: row
SELECT record_version_number AS seen,
       CASE WHEN record_version_number = :seen::bigint
            THEN :seen_at::bigint ELSE :now::bigint END AS seen_at
FROM locks
WHERE name = :resource;
UPDATE locks
SET owner = :worker, record_version_number = nextval('lock_rvn')
WHERE name = :resource
  AND record_version_number = :seen::bigint
  AND (owner IS NULL OR :now::bigint - :seen_at::bigint >= :ttl_ms)
RETURNING record_version_number AS token;

-- A heartbeat draws a new version, which is the holder's token from then on.
-- name: renew [postgres]
UPDATE locks SET record_version_number = nextval('lock_rvn')
WHERE name = :resource AND owner = :worker AND record_version_number = :token
RETURNING record_version_number AS token;

-- name: release [postgres]
UPDATE locks SET owner = NULL, record_version_number = nextval('lock_rvn')
WHERE name = :resource AND owner = :worker AND record_version_number = :token;

-- name: teardown [postgres]
DROP TABLE locks;
DROP SEQUENCE lock_rvn;
