-- Ready jobs and claimed jobs are tables of their own. Workers show that they live whenever they claim; what one who did
-- not for too long had claimed is made ready again. A worker that finishes a job deletes its claim: whether that was
-- there is not looked at (finish=any), or must be so (finish=once).
-- After rails/solid_queue pull request 761. Truth expected: any broken: a worker that was pruned, and lives, finishes a job
-- that another has claimed by then: owner-release. once right.
--
-- strategy: pruned-alive
-- shape: queue
-- needs: skip_locked
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: finish = any | once
-- option: alive_ms = 300000 (how long a worker without a sign of life counts as alive)

-- name: setup [postgres]
CREATE TABLE job (id bigint PRIMARY KEY, class text NOT NULL, payload text, is_finished boolean NOT NULL DEFAULT false);
CREATE TABLE ready (job_id bigint PRIMARY KEY REFERENCES job, class text NOT NULL);
CREATE TABLE claimed (job_id bigint PRIMARY KEY REFERENCES job, worker text NOT NULL);
CREATE TABLE worker (name text PRIMARY KEY, seen_at timestamptz NOT NULL);

-- name: put [postgres] tx=one
INSERT INTO job (id, class, payload) VALUES (:id, :class, :payload);
INSERT INTO ready (job_id, class) VALUES (:id, :class);

-- name: claim [postgres] tx=one
INSERT INTO worker (name, seen_at) VALUES (:worker, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET seen_at = clock_timestamp();
WITH next AS MATERIALIZED (
    SELECT job_id FROM ready WHERE class = :class ORDER BY job_id LIMIT :n FOR UPDATE SKIP LOCKED
), taken AS (
    INSERT INTO claimed (job_id, worker) SELECT job_id, :worker FROM next
), gone AS (
    DELETE FROM ready USING next WHERE ready.job_id = next.job_id
)
SELECT job.id, job.payload FROM job JOIN next ON job.id = next.job_id;

-- name: complete [postgres] tx=one when finish=any
DELETE FROM claimed WHERE job_id = :id AND worker = :worker;
UPDATE job SET is_finished = true WHERE id = :id;

-- name: complete [postgres] tx=one when finish=once
-- require: row
DELETE FROM claimed WHERE job_id = :id AND worker = :worker;
UPDATE job SET is_finished = true WHERE id = :id;

-- name: recover [postgres]
WITH pruned AS (
    DELETE FROM worker
    WHERE seen_at < clock_timestamp() - :alive_ms * interval '1 millisecond'
    RETURNING name
), released AS (
    DELETE FROM claimed USING pruned WHERE claimed.worker = pruned.name RETURNING claimed.job_id
)
INSERT INTO ready (job_id, class)
SELECT job.id, job.class FROM job JOIN released ON released.job_id = job.id;

-- name: teardown [postgres]
DROP TABLE worker, claimed, ready, job;
