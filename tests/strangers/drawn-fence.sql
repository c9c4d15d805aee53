-- A fence that a sequence gives, drawn by a statement of its own before the lock is taken: the first to draw may be
-- granted last, with the smaller number. drawn=within draws it in the statement that takes the lock: right.
-- Truth expected: within right; before broken: fenced.
--
-- strategy: drawn-fence
-- shape: lock
-- claims: exclusive, fenced
-- option: drawn = within | before

-- name: setup [postgres]
CREATE SEQUENCE fences;
CREATE TABLE held (name text PRIMARY KEY, owner text, fence bigint NOT NULL DEFAULT 0);

-- name: resource
INSERT INTO held (name) VALUES (:resource);

-- name: acquire [postgres] when drawn=within
UPDATE held SET owner = :worker, fence = nextval('fences')
WHERE name = :resource AND owner IS NULL RETURNING fence AS token;

-- name: acquire [postgres] when drawn=before
SELECT nextval('fences') AS token;
UPDATE held SET owner = :worker, fence = :token WHERE name = :resource AND owner IS NULL;

-- name: release
UPDATE held SET owner = NULL WHERE name = :resource AND owner = :worker;

-- name: teardown
DROP TABLE held;
DROP SEQUENCE fences;
