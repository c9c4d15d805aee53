-- A claim of several items, which are completed one by one.
-- Truth expected: done=item right; done=worker completes all that its worker has in hand: what it has not done yet is
-- gone if it dies: recovery broken.
--
-- strategy: two-items
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, recovery
-- option: done = item | worker
-- option: stale_ms = 60000 (age at which recover gives work back)

-- name: setup
CREATE TABLE work (id bigint PRIMARY KEY, payload text, worker varchar(100), since_ms bigint NOT NULL DEFAULT 0);

-- name: put
INSERT INTO work (id, payload) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE work SET worker = :worker, since_ms = :now
WHERE id IN (SELECT id FROM work WHERE worker IS NULL ORDER BY id LIMIT :n) RETURNING id, payload;
-- name: claim [postgres]
UPDATE work SET worker = :worker, since_ms = :now
WHERE id IN (SELECT id FROM work WHERE worker IS NULL ORDER BY id LIMIT :n FOR UPDATE SKIP LOCKED)
RETURNING id, payload;

-- name: complete when done=item
DELETE FROM work WHERE id = :id AND worker = :worker;
-- name: complete when done=worker
DELETE FROM work WHERE worker = :worker;

-- name: recover
UPDATE work SET worker = NULL WHERE since_ms < :now - :stale_ms AND worker IS NOT NULL;

-- name: teardown
DROP TABLE work;
