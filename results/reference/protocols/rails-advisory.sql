-- An advisory lock of the transaction, tried and not waited for. open=no takes it without a transaction around it,
-- so that it is gone when the statement is; open=yes keeps the transaction open as long as the lock is wanted.
-- After with_advisory_lock with transaction: true. The statements are ours: no code of the library was run, and no
-- version of it is claimed.
-- Expected: no broken: exclusive. yes right.
--
-- strategy: rails-advisory
-- shape: lock
-- needs: advisory_xact
-- claims: exclusive, recovery
-- option: open = no | yes

-- name: setup [postgres]
CREATE TABLE migration (version bigint PRIMARY KEY);

-- name: acquire [postgres] when open=no
SELECT pg_try_advisory_xact_lock(:space_no::int, :resource_no::int) AS granted;

-- name: acquire [postgres] when open=yes tx=hold
SELECT pg_try_advisory_xact_lock(:space_no::int, :resource_no::int) AS granted;

-- name: release [postgres] when open=no
SELECT 1 AS granted;

-- name: release [postgres] when open=yes

-- name: teardown [postgres]
DROP TABLE migration;
