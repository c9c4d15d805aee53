-- Locks that no worker gets any more, or that some never get. free=null writes NULL when it is given back, and asks for
-- it: right. free=equal compares NULL with =, which is never true, so the first holder is the last one. free=due asks for
-- a due time that starts as NULL: no worker is ever granted it.
-- Truth expected: null right; equal and due broken: progress.
--
-- strategy: stuck
-- shape: lock
-- claims: exclusive, progress
-- option: free = null | equal | due

-- name: setup
CREATE TABLE held (name varchar(60) PRIMARY KEY, owner varchar(60), due_ms bigint);

-- name: resource when free=null|due
INSERT INTO held (name) VALUES (:resource);

-- name: resource when free=equal
INSERT INTO held (name, owner) VALUES (:resource, '');

-- name: acquire when free=null
UPDATE held SET owner = :worker WHERE name = :resource AND owner IS NULL;

-- name: acquire when free=equal
UPDATE held SET owner = :worker WHERE name = :resource AND owner = '';

-- name: acquire when free=due
UPDATE held SET owner = :worker WHERE name = :resource AND owner IS NULL AND due_ms <= :now;

-- name: release
UPDATE held SET owner = NULL WHERE name = :resource AND owner = :worker;

-- name: teardown
DROP TABLE held;
