-- Ready jobs and claimed jobs are tables of their own. Processes register and beat; a process that was not heard of for
-- too long is pruned, and its claims are made ready again. A process that finishes a job deletes its claim: whether
-- that was there is not looked at (finish=any), or must be so (finish=once). After rails/solid_queue pull request
-- 761. Truth expected: any broken: a process that was pruned, and lives, finishes a job that another has claimed by
-- then: owner-release. once right.
-- limit: alive_ms
-- strategy: pruned-alive
-- shape: queue
-- needs: skip_locked
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: finish = any | once
-- option: alive_ms = 300000 (how long a process that is not heard of counts as alive)

-- name: setup [postgres]
CREATE TABLE job (id bigint PRIMARY KEY, class text NOT NULL, payload text, is_finished boolean NOT NULL DEFAULT false);
CREATE TABLE ready (job_id bigint PRIMARY KEY REFERENCES job, class text NOT NULL);
CREATE TABLE claimed (job_id bigint PRIMARY KEY REFERENCES job, process text NOT NULL);
CREATE TABLE process (name text PRIMARY KEY, host text NOT NULL, seen_at timestamptz NOT NULL);

-- name: register [postgres]
INSERT INTO process (name, host, seen_at) VALUES (:process, :host, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET seen_at = clock_timestamp();

-- name: heartbeat [postgres]
UPDATE process SET seen_at = clock_timestamp() WHERE name = :process;

-- name: unregister [postgres]
DELETE FROM process WHERE name = :process;

-- name: put [postgres] tx=one
INSERT INTO job (id, class, payload) VALUES (:id, :class, :payload);
INSERT INTO ready (job_id, class) VALUES (:id, :class);

-- name: claim [postgres]
WITH next AS MATERIALIZED (
    SELECT job_id FROM ready WHERE class = :class ORDER BY job_id LIMIT :n FOR UPDATE SKIP LOCKED
), taken AS (
    INSERT INTO claimed (job_id, process) SELECT job_id, :process FROM next
), gone AS (
    DELETE FROM ready USING next WHERE ready.job_id = next.job_id
)
SELECT job.id, job.payload FROM job JOIN next ON job.id = next.job_id;

-- name: complete [postgres] tx=one when finish=any
DELETE FROM claimed WHERE job_id = :id AND process = :process;
UPDATE job SET is_finished = true WHERE id = :id;

-- name: complete [postgres] tx=one when finish=once
-- require: row
DELETE FROM claimed WHERE job_id = :id AND process = :process;
UPDATE job SET is_finished = true WHERE id = :id;

-- name: recover [postgres] tx=one
DELETE FROM process WHERE seen_at < clock_timestamp() - :alive_ms * interval '1 millisecond';
WITH released AS (
    DELETE FROM claimed
    WHERE NOT EXISTS (SELECT 1 FROM process WHERE process.name = claimed.process)
    RETURNING job_id
)
INSERT INTO ready (job_id, class)
SELECT job.id, job.class FROM job JOIN released ON released.job_id = job.id;

-- name: teardown [postgres]
DROP TABLE process, claimed, ready, job;
