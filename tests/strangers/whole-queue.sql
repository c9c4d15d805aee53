-- A queue whose reservations are seconds: an item reserved retry_after seconds ago is ready again. pop=locked
-- selects and marks in one transaction; pop=read does not lock the selected item. After Laravel's database
-- queue. Truth expected: locked right, though a reservation may be one second shorter; read broken:
-- no-duplicate.
-- precision: seconds
-- strategy: whole-queue
-- shape: queue
-- needs: skip_locked
-- claims: no-duplicate, no-loss, bounded-claim, recovery
-- option: retry_after = 90
-- option: pop = locked | read
-- lease: retry_after in s

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload text, reserved_at bigint);

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [postgres] tx=one when pop=locked
-- require: row
SELECT id AS found FROM job
WHERE reserved_at IS NULL OR reserved_at <= extract(epoch FROM clock_timestamp())::bigint - :retry_after
ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE job SET reserved_at = extract(epoch FROM clock_timestamp())::bigint WHERE id = :found RETURNING id, payload;

-- name: claim [postgres] when pop=read
-- require: row
SELECT id AS found FROM job
WHERE reserved_at IS NULL OR reserved_at <= extract(epoch FROM clock_timestamp())::bigint - :retry_after
ORDER BY id LIMIT 1;
UPDATE job SET reserved_at = extract(epoch FROM clock_timestamp())::bigint WHERE id = :found RETURNING id, payload;

-- name: claim [mariadb] tx=one when pop=locked
-- require: row
SELECT id AS found FROM job
WHERE reserved_at IS NULL OR reserved_at <= UNIX_TIMESTAMP() - :retry_after ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE job SET reserved_at = UNIX_TIMESTAMP() WHERE id = :found;
SELECT id, payload FROM job WHERE id = :found;

-- name: claim [mariadb] when pop=read
-- require: row
SELECT id AS found FROM job
WHERE reserved_at IS NULL OR reserved_at <= UNIX_TIMESTAMP() - :retry_after ORDER BY id LIMIT 1;
UPDATE job SET reserved_at = UNIX_TIMESTAMP() WHERE id = :found;
SELECT id, payload FROM job WHERE id = :found;

-- name: complete
DELETE FROM job WHERE id = :id;

-- name: teardown
DROP TABLE job;
