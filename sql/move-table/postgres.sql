-- Ready items in one table, claimed ones in another. See strategies/move_table.c.

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, class text NOT NULL, payload text NOT NULL);
CREATE TABLE ready (id bigint PRIMARY KEY, class text NOT NULL);
CREATE INDEX ready_class ON ready (class, id);
CREATE TABLE claimed (
    id bigint PRIMARY KEY,
    class text NOT NULL,
    owner text NOT NULL,
    token bigint NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE failed (id bigint PRIMARY KEY, class text NOT NULL);
CREATE TABLE done (id bigint PRIMARY KEY, class text NOT NULL);
CREATE SEQUENCE claim_number;

-- name: put
WITH jobs AS (
    INSERT INTO job (id, class, payload)
    SELECT i, :class, :payload FROM generate_series(:id::bigint, :id + :n - 1) AS i
    RETURNING id, class
)
INSERT INTO ready (id, class) SELECT id, class FROM jobs;

-- name: claim
WITH next AS (
    SELECT id
    FROM ready
    WHERE class = :class
    ORDER BY id
    LIMIT :n
    FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM ready USING next WHERE ready.id = next.id RETURNING ready.id, ready.class
)
INSERT INTO claimed (id, class, owner, token)
SELECT id, class, :worker, nextval('claim_number') FROM gone
RETURNING id, (SELECT payload FROM job WHERE job.id = claimed.id) AS payload, token;

-- name: complete
WITH gone AS (DELETE FROM claimed WHERE id = :id AND owner = :worker AND token = :token RETURNING id, class)
INSERT INTO done (id, class) SELECT id, class FROM gone;

-- name: error
WITH gone AS (DELETE FROM claimed WHERE id = :id AND owner = :worker AND token = :token RETURNING id, class)
INSERT INTO failed (id, class) SELECT id, class FROM gone;

-- name: free
WITH gone AS (DELETE FROM claimed WHERE id = :id AND owner = :worker AND token = :token RETURNING id, class)
INSERT INTO ready (id, class) SELECT id, class FROM gone;

-- name: clear-error
WITH gone AS (DELETE FROM failed WHERE id = :id RETURNING id, class)
INSERT INTO ready (id, class) SELECT id, class FROM gone;

-- name: clear-all-errors
WITH gone AS (DELETE FROM failed WHERE class = :class RETURNING id, class)
INSERT INTO ready (id, class) SELECT id, class FROM gone;

-- name: reset-all
WITH gone AS (DELETE FROM done WHERE class = :class RETURNING id, class)
INSERT INTO ready (id, class) SELECT id, class FROM gone;

-- name: recover
WITH gone AS (DELETE FROM claimed WHERE class = :class AND since < clock_timestamp() - :ttl_ms * interval '1 millisecond' RETURNING id, class)
INSERT INTO ready (id, class) SELECT id, class FROM gone;

-- name: count
SELECT (SELECT count(*) FROM ready WHERE class = :class) AS pending,
       (SELECT count(*) FROM claimed WHERE class = :class) AS active,
       (SELECT count(*) FROM done WHERE class = :class) AS done,
       (SELECT count(*) FROM failed WHERE class = :class) AS failed;

-- name: teardown
DROP TABLE job, ready, claimed, failed, done;
DROP SEQUENCE claim_number;
