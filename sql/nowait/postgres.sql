-- A task list claimed with FOR UPDATE NOWAIT, as published. See strategies/nowait.c.

-- name: setup when recurring=no
CREATE TABLE parallel_allocation_list (
    id bigint PRIMARY KEY,
    driving_task text NOT NULL,
    payload text NOT NULL,
    status text NOT NULL DEFAULT 'New'
        CHECK (status IN ('New', 'Active', 'Complete', 'Errored')),
    owner text,
    token bigint NOT NULL DEFAULT 0,
    since timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX parallel_allocation_list_new
    ON parallel_allocation_list (driving_task, id) WHERE status = 'New';
CREATE INDEX parallel_allocation_list_active
    ON parallel_allocation_list (driving_task, since) WHERE status = 'Active';

-- name: setup when recurring=yes
CREATE TABLE parallel_allocation_list (
    id bigint PRIMARY KEY,
    driving_task text NOT NULL,
    payload text NOT NULL,
    status text NOT NULL DEFAULT 'New'
        CHECK (status IN ('New', 'Active', 'Complete', 'Errored')),
    owner text,
    token bigint NOT NULL DEFAULT 0,
    since timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX parallel_allocation_list_new
    ON parallel_allocation_list (driving_task, id) WHERE status = 'New';
CREATE INDEX parallel_allocation_list_active
    ON parallel_allocation_list (driving_task, since) WHERE status = 'Active';
CREATE INDEX parallel_allocation_list_due
    ON parallel_allocation_list (driving_task, since, id) WHERE status IN ('New', 'Complete');

-- name: put
INSERT INTO parallel_allocation_list (id, driving_task, payload)
SELECT i, :class, :payload FROM generate_series(:id::bigint, :id + :n - 1) AS i;

-- name: claim when form=safe offset=first recurring=no tx=one
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class AND status = 'New'
ORDER BY id
LIMIT 1
FOR UPDATE NOWAIT;
UPDATE parallel_allocation_list
SET status = 'Active', owner = :worker, token = token + 1, since = clock_timestamp()
WHERE id = :id AND status = 'New'
RETURNING id, payload, token;

-- Complete rows are due again when a period has passed since; the one that waits the longest first.
-- name: claim when form=safe offset=first recurring=yes tx=one
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class
  AND (status = 'New' OR (status = 'Complete' AND since <= clock_timestamp() - :period_ms * interval '1 millisecond'))
ORDER BY since, id
LIMIT 1
FOR UPDATE NOWAIT;
UPDATE parallel_allocation_list
SET status = 'Active', owner = :worker, token = token + 1, since = clock_timestamp()
WHERE id = :id AND status IN ('New', 'Complete')
RETURNING id, payload, token;

-- One of the first :spread rows, whichever: tries collide less, and order is lost. Chosen first and locked then:
-- OFFSET under FOR UPDATE locks the rows that it skips.
-- name: claim when form=safe offset=random recurring=no tx=one
-- require: row
SELECT id
FROM (SELECT id
      FROM parallel_allocation_list
      WHERE driving_task = :class AND status = 'New'
      ORDER BY id
      LIMIT :spread) AS head
ORDER BY random()
LIMIT 1;
-- require: row
SELECT id FROM parallel_allocation_list WHERE id = :id AND status = 'New'
FOR UPDATE NOWAIT;
UPDATE parallel_allocation_list
SET status = 'Active', owner = :worker, token = token + 1, since = clock_timestamp()
WHERE id = :id AND status = 'New'
RETURNING id, payload, token;

-- As published: any New row, no second look at it before the UPDATE, and a loop of five tries that has no
-- EXIT: a try that is not refused is made five times. (On a refusal the harness tries again: --tries 5.)
-- name: claim when form=published offset=first recurring=no tx=one
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class AND status = 'New'
LIMIT 1
FOR UPDATE NOWAIT;
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class AND status = 'New'
LIMIT 1
FOR UPDATE NOWAIT;
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class AND status = 'New'
LIMIT 1
FOR UPDATE NOWAIT;
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class AND status = 'New'
LIMIT 1
FOR UPDATE NOWAIT;
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class AND status = 'New'
LIMIT 1
FOR UPDATE NOWAIT;
UPDATE parallel_allocation_list
SET status = 'Active', owner = :worker, token = token + 1, since = clock_timestamp()
WHERE id = :id
RETURNING id, payload, token;

-- As published, the statement does not check the item's owner.
-- name: complete when form=published
UPDATE parallel_allocation_list SET status = 'Complete', since = clock_timestamp()
WHERE id = :id AND status = 'Active';

-- name: error when form=published
UPDATE parallel_allocation_list SET status = 'Errored'
WHERE id = :id AND status = 'Active';

-- name: free when form=published
UPDATE parallel_allocation_list SET status = 'New', owner = NULL
WHERE id = :id AND status = 'Active';

-- name: complete when form=safe
UPDATE parallel_allocation_list SET status = 'Complete', since = clock_timestamp()
WHERE id = :id AND status = 'Active' AND owner = :worker AND token = :token;

-- name: error when form=safe
UPDATE parallel_allocation_list SET status = 'Errored'
WHERE id = :id AND status = 'Active' AND owner = :worker AND token = :token;

-- name: free when form=safe
UPDATE parallel_allocation_list SET status = 'New', owner = NULL
WHERE id = :id AND status = 'Active' AND owner = :worker AND token = :token;

-- name: clear-error
UPDATE parallel_allocation_list SET status = 'New', owner = NULL
WHERE id = :id AND status = 'Errored';

-- name: clear-all-errors
UPDATE parallel_allocation_list SET status = 'New', owner = NULL
WHERE driving_task = :class AND status = 'Errored';

-- name: reset-all
UPDATE parallel_allocation_list SET status = 'New', owner = NULL
WHERE driving_task = :class AND status = 'Complete';

-- Items of a dead process stay Active until an operator resets them.
-- name: recover
UPDATE parallel_allocation_list SET status = 'New', owner = NULL
WHERE driving_task = :class AND status = 'Active'
  AND since < clock_timestamp() - :ttl_ms * interval '1 millisecond';

-- name: count
SELECT count(*) FILTER (WHERE status = 'New') AS pending,
       count(*) FILTER (WHERE status = 'Active') AS active,
       count(*) FILTER (WHERE status = 'Complete') AS done,
       count(*) FILTER (WHERE status = 'Errored') AS failed
FROM parallel_allocation_list
WHERE driving_task = :class;

-- name: teardown
DROP TABLE parallel_allocation_list;
