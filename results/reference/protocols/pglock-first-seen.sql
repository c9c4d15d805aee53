-- A lease without clocks in the table: the row has a version that its holder draws anew. Who waits remembers when
-- it began to look, and takes the row once it has looked for a whole lease.
-- After pglock, whose waiters begin anew when the version changes. The statements are ours: no code of the library
-- was run, and no version of it is claimed.
-- Expected: broken: here they do not: who has waited for long takes the lock from a holder that has just got it:
-- exclusive.
--
-- strategy: pglock-first-seen
-- shape: lock
-- claims: exclusive, fenced, owner-release, recovery

-- name: setup [postgres]
CREATE SEQUENCE version_no;
CREATE TABLE locks (name text PRIMARY KEY, version bigint NOT NULL, owner text);

-- name: resource [postgres]
INSERT INTO locks (name, version) VALUES (:resource, nextval('version_no'));

-- name: enqueue [postgres]
SELECT :now::bigint AS since;

-- name: acquire [postgres]
-- require: row
SELECT version AS seen FROM locks WHERE name = :resource;
UPDATE locks SET owner = :worker, version = nextval('version_no')
WHERE name = :resource AND version = :seen::bigint
  AND (owner IS NULL OR :now::bigint - :since::bigint >= :ttl_ms)
RETURNING version AS token;

-- name: renew [postgres]
UPDATE locks SET version = nextval('version_no')
WHERE name = :resource AND owner = :worker AND version = :token
RETURNING version AS token;

-- name: release [postgres]
UPDATE locks SET owner = NULL, version = nextval('version_no')
WHERE name = :resource AND owner = :worker AND version = :token;

-- name: teardown [postgres]
DROP TABLE locks;
DROP SEQUENCE version_no;
