-- A worker reads a job that nobody has grabbed, or whose grab is over, and marks it under the grab that it has read.
-- Times are whole seconds of the server. When it has run the job's row is deleted by its number.
-- After TheSchwartz (find_job_for_workers, grab, completed). The library reads fifty jobs and takes one of them by chance;
-- here one is read. The statements are ours: no code of the library was run for this file, and no version of it is
-- claimed.
-- Expected: broken: who runs longer than the grab deletes the row under the second worker: owner-release.
--
-- strategy: theschwartz
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: ttl_ms = 3600000 (grab_for)

-- name: setup [postgres]
CREATE TABLE job (jobid bigint PRIMARY KEY, funcid text NOT NULL, arg text, run_after bigint NOT NULL DEFAULT 0,
                  grabbed_until bigint NOT NULL DEFAULT 0);
CREATE INDEX job_func ON job (funcid, run_after);

-- name: setup [mariadb]
CREATE TABLE job (jobid bigint PRIMARY KEY, funcid varchar(64) NOT NULL, arg text, run_after bigint NOT NULL DEFAULT 0,
                  grabbed_until bigint NOT NULL DEFAULT 0, KEY job_func (funcid, run_after));

-- name: put [postgres, mariadb]
INSERT INTO job (jobid, funcid, arg) VALUES (:id, :class, :payload);

-- name: claim [postgres]
-- require: row
SELECT jobid AS id, grabbed_until AS seen
FROM job
WHERE funcid = :class AND run_after <= floor(extract(epoch FROM clock_timestamp()))::bigint
  AND grabbed_until <= floor(extract(epoch FROM clock_timestamp()))::bigint
ORDER BY jobid
LIMIT 1;
UPDATE job
SET grabbed_until = floor(extract(epoch FROM clock_timestamp()))::bigint + greatest(1, (:ttl_ms)::bigint / 1000)
WHERE jobid = :id AND grabbed_until = (:seen)::bigint
RETURNING jobid AS id, arg AS payload;

-- name: claim [mariadb]
-- require: row
SELECT jobid AS id, grabbed_until AS seen
FROM job
WHERE funcid = :class AND run_after <= UNIX_TIMESTAMP(SYSDATE()) AND grabbed_until <= UNIX_TIMESTAMP(SYSDATE())
ORDER BY jobid
LIMIT 1;
-- require: row
UPDATE job
SET grabbed_until = UNIX_TIMESTAMP(SYSDATE()) + GREATEST(1, :ttl_ms DIV 1000)
WHERE jobid = :id AND grabbed_until = :seen;
SELECT jobid AS id, arg AS payload FROM job WHERE jobid = :id;

-- name: complete [postgres, mariadb]
DELETE FROM job WHERE jobid = :id;

-- name: teardown [postgres, mariadb]
DROP TABLE job;
