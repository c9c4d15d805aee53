-- A task list claimed with FOR UPDATE NOWAIT, as published. See strategies/nowait.c.

-- name: setup when recurring=no
CREATE TABLE parallel_allocation_list (
    id bigint PRIMARY KEY,
    driving_task varchar(64) NOT NULL,
    payload text NOT NULL,
    status varchar(8) NOT NULL DEFAULT 'New'
        CHECK (status IN ('New', 'Active', 'Complete', 'Errored')),
    owner varchar(64),
    token bigint NOT NULL DEFAULT 0,
    since datetime(6) NOT NULL DEFAULT SYSDATE(6)
);
CREATE INDEX parallel_allocation_list_new
    ON parallel_allocation_list (driving_task, status, id);

-- name: setup when recurring=yes
CREATE TABLE parallel_allocation_list (
    id bigint PRIMARY KEY,
    driving_task varchar(64) NOT NULL,
    payload text NOT NULL,
    status varchar(8) NOT NULL DEFAULT 'New'
        CHECK (status IN ('New', 'Active', 'Complete', 'Errored')),
    owner varchar(64),
    token bigint NOT NULL DEFAULT 0,
    since datetime(6) NOT NULL DEFAULT SYSDATE(6)
);
CREATE INDEX parallel_allocation_list_new
    ON parallel_allocation_list (driving_task, status, id);
CREATE INDEX parallel_allocation_list_due
    ON parallel_allocation_list (driving_task, since, id);

-- name: put
INSERT INTO parallel_allocation_list (id, driving_task, payload)
SELECT :id + seq, :class, :payload FROM seq_0_to_99999 WHERE seq < :n;

-- name: claim when form=safe offset=first recurring=no tx=one
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class AND status = 'New'
ORDER BY id
LIMIT 1
FOR UPDATE NOWAIT;
-- require: row
UPDATE parallel_allocation_list
SET status = 'Active', owner = :worker, token = token + 1, since = SYSDATE(6)
WHERE id = :id AND status = 'New';
SELECT id, payload, token FROM parallel_allocation_list WHERE id = :id;

-- Complete rows are due again when a period has passed since; the one that waits the longest first.
-- name: claim when form=safe offset=first recurring=yes tx=one
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class
  AND (status = 'New' OR (status = 'Complete' AND since <= SYSDATE(6) - INTERVAL :period_ms * 1000 MICROSECOND))
ORDER BY since, id
LIMIT 1
FOR UPDATE NOWAIT;
-- require: row
UPDATE parallel_allocation_list
SET status = 'Active', owner = :worker, token = token + 1, since = SYSDATE(6)
WHERE id = :id AND status IN ('New', 'Complete');
SELECT id, payload, token FROM parallel_allocation_list WHERE id = :id;

-- One of the first :spread rows, whichever: tries collide less, and order is lost.
-- name: claim when form=safe offset=random recurring=no tx=one
-- require: row
SELECT id
FROM (SELECT id
      FROM parallel_allocation_list
      WHERE driving_task = :class AND status = 'New'
      ORDER BY id
      LIMIT :spread) AS head
ORDER BY RAND()
LIMIT 1;
-- require: row
SELECT id FROM parallel_allocation_list WHERE id = :id AND status = 'New'
FOR UPDATE NOWAIT;
-- require: row
UPDATE parallel_allocation_list
SET status = 'Active', owner = :worker, token = token + 1, since = SYSDATE(6)
WHERE id = :id AND status = 'New';
SELECT id, payload, token FROM parallel_allocation_list WHERE id = :id;

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
SET status = 'Active', owner = :worker, token = token + 1, since = SYSDATE(6)
WHERE id = :id;
SELECT id, payload, token FROM parallel_allocation_list WHERE id = :id;

-- As published, the statement does not check the item's owner.
-- name: complete when form=published
UPDATE parallel_allocation_list SET status = 'Complete', since = SYSDATE(6)
WHERE id = :id AND status = 'Active';

-- name: error when form=published
UPDATE parallel_allocation_list SET status = 'Errored'
WHERE id = :id AND status = 'Active';

-- name: free when form=published
UPDATE parallel_allocation_list SET status = 'New', owner = NULL
WHERE id = :id AND status = 'Active';

-- name: complete when form=safe
UPDATE parallel_allocation_list SET status = 'Complete', since = SYSDATE(6)
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
  AND since < SYSDATE(6) - INTERVAL :ttl_ms * 1000 MICROSECOND;

-- name: count
SELECT coalesce(sum(status = 'New'), 0) AS pending,
       coalesce(sum(status = 'Active'), 0) AS active,
       coalesce(sum(status = 'Complete'), 0) AS done,
       coalesce(sum(status = 'Errored'), 0) AS failed
FROM parallel_allocation_list
WHERE driving_task = :class;

-- name: teardown
DROP TABLE parallel_allocation_list;
