-- A task list, as published, on an engine without row locks. See strategies/nowait.c.
-- The transaction (BEGIN IMMEDIATE) is refused at once, not the row.

-- name: setup when recurring=no
CREATE TABLE parallel_allocation_list (
    id INTEGER PRIMARY KEY,
    driving_task TEXT NOT NULL,
    payload TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'New'
        CHECK (status IN ('New', 'Active', 'Complete', 'Errored')),
    owner TEXT,
    token INTEGER NOT NULL DEFAULT 0,
    since REAL NOT NULL DEFAULT (julianday('now'))
);
CREATE INDEX parallel_allocation_list_new
    ON parallel_allocation_list (driving_task, id) WHERE status = 'New';
CREATE INDEX parallel_allocation_list_active
    ON parallel_allocation_list (driving_task, since) WHERE status = 'Active';

-- name: setup when recurring=yes
CREATE TABLE parallel_allocation_list (
    id INTEGER PRIMARY KEY,
    driving_task TEXT NOT NULL,
    payload TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'New'
        CHECK (status IN ('New', 'Active', 'Complete', 'Errored')),
    owner TEXT,
    token INTEGER NOT NULL DEFAULT 0,
    since REAL NOT NULL DEFAULT (julianday('now'))
);
CREATE INDEX parallel_allocation_list_new
    ON parallel_allocation_list (driving_task, id) WHERE status = 'New';
CREATE INDEX parallel_allocation_list_active
    ON parallel_allocation_list (driving_task, since) WHERE status = 'Active';
CREATE INDEX parallel_allocation_list_due
    ON parallel_allocation_list (driving_task, since, id) WHERE status IN ('New', 'Complete');

-- name: put
WITH RECURSIVE items (i) AS (
    SELECT :id UNION ALL SELECT i + 1 FROM items WHERE i < :id + :n - 1
)
INSERT INTO parallel_allocation_list (id, driving_task, payload) SELECT i, :class, :payload FROM items;

-- name: claim when form=safe offset=first recurring=no tx=one begin=immediate
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class AND status = 'New'
ORDER BY id
LIMIT 1;
UPDATE parallel_allocation_list
SET status = 'Active', owner = :worker, token = token + 1, since = julianday('now')
WHERE id = :id AND status = 'New'
RETURNING id, payload, token;

-- Complete rows are due again when a period has passed since; the one that waits the longest first.
-- name: claim when form=safe offset=first recurring=yes tx=one begin=immediate
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class
  AND (status = 'New' OR (status = 'Complete' AND since <= julianday('now') - :period_ms / 86400000.0))
ORDER BY since, id
LIMIT 1;
UPDATE parallel_allocation_list
SET status = 'Active', owner = :worker, token = token + 1, since = julianday('now')
WHERE id = :id AND status IN ('New', 'Complete')
RETURNING id, payload, token;

-- One of the first :spread rows, whichever: tries collide less, and order is lost.
-- name: claim when form=safe offset=random recurring=no tx=one begin=immediate
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class AND status = 'New'
ORDER BY id
LIMIT 1
OFFSET abs(random()) % max(1, (SELECT count(*)
        FROM (SELECT 1
              FROM parallel_allocation_list
              WHERE driving_task = :class AND status = 'New'
              ORDER BY id
              LIMIT :spread) AS head));
UPDATE parallel_allocation_list
SET status = 'Active', owner = :worker, token = token + 1, since = julianday('now')
WHERE id = :id AND status = 'New'
RETURNING id, payload, token;

-- As published: any New row, no second look at it before the UPDATE, and a loop of five tries that has no
-- EXIT: a try that is not refused is made five times. (On a refusal the harness tries again: --tries 5.)
-- name: claim when form=published offset=first recurring=no tx=one begin=immediate
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class AND status = 'New'
LIMIT 1;
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class AND status = 'New'
LIMIT 1;
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class AND status = 'New'
LIMIT 1;
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class AND status = 'New'
LIMIT 1;
-- require: row
SELECT id
FROM parallel_allocation_list
WHERE driving_task = :class AND status = 'New'
LIMIT 1;
UPDATE parallel_allocation_list
SET status = 'Active', owner = :worker, token = token + 1, since = julianday('now')
WHERE id = :id
RETURNING id, payload, token;

-- As published, the statement does not check the item's owner.
-- name: complete when form=published
UPDATE parallel_allocation_list SET status = 'Complete', since = julianday('now')
WHERE id = :id AND status = 'Active';

-- name: error when form=published
UPDATE parallel_allocation_list SET status = 'Errored'
WHERE id = :id AND status = 'Active';

-- name: free when form=published
UPDATE parallel_allocation_list SET status = 'New', owner = NULL
WHERE id = :id AND status = 'Active';

-- name: complete when form=safe
UPDATE parallel_allocation_list SET status = 'Complete', since = julianday('now')
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
  AND since < julianday('now') - :ttl_ms / 86400000.0;

-- name: count
SELECT count(*) FILTER (WHERE status = 'New') AS pending,
       count(*) FILTER (WHERE status = 'Active') AS active,
       count(*) FILTER (WHERE status = 'Complete') AS done,
       count(*) FILTER (WHERE status = 'Errored') AS failed
FROM parallel_allocation_list
WHERE driving_task = :class;

-- name: teardown
DROP TABLE parallel_allocation_list;
