-- A transaction's advisory lock. See strategies/advisory_xact.c.

-- name: setup

-- name: acquire when wait=block tx=hold
SELECT CASE WHEN :mode = 'shared'
            THEN pg_advisory_xact_lock_shared(:space_no::int, :resource_no::int)
            ELSE pg_advisory_xact_lock(:space_no::int, :resource_no::int) END AS locked;

-- name: acquire when wait=try tx=hold
SELECT CASE WHEN :mode = 'shared'
            THEN pg_try_advisory_xact_lock_shared(:space_no::int, :resource_no::int)
            ELSE pg_try_advisory_xact_lock(:space_no::int, :resource_no::int) END AS granted;

-- The commit is the release.
-- name: release

-- name: teardown
