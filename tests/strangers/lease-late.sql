-- A lock row that is stamped with the end of its lease, by the server's clock. taken=at-once takes it in one UPDATE:
-- its values are computed before it waits for another session's row lock, so that the lease may be over when it is
-- granted, and the next one is let in beside it. taken=locked locks the row first, and asks for the time in the
-- statement behind. A common mechanism. Truth expected: locked right; at-once broken: exclusive.
--
-- strategy: lease-late
-- shape: lock
-- claims: exclusive, owner-release, recovery
-- option: taken = locked | at-once

-- name: setup [postgres]
CREATE TABLE mutex (name text PRIMARY KEY, holder text, expires_at timestamptz);

-- name: resource
INSERT INTO mutex (name) VALUES (:resource);

-- name: acquire [postgres] tx=one when taken=locked
SELECT name FROM mutex WHERE name = :resource FOR UPDATE;
UPDATE mutex SET holder = :worker, expires_at = clock_timestamp() + :ttl_ms * interval '1 millisecond'
WHERE name = :resource AND (holder IS NULL OR expires_at <= clock_timestamp());

-- name: acquire [postgres] when taken=at-once
UPDATE mutex SET holder = :worker, expires_at = clock_timestamp() + :ttl_ms * interval '1 millisecond'
WHERE name = :resource AND (holder IS NULL OR expires_at <= clock_timestamp());

-- name: release
UPDATE mutex SET holder = NULL WHERE name = :resource AND holder = :worker;

-- name: teardown
DROP TABLE mutex;
