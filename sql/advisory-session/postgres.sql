-- A session's advisory lock. See strategies/advisory_session.c.

-- name: setup

-- name: acquire when wait=block session=keep
SELECT CASE WHEN :mode = 'shared'
            THEN pg_advisory_lock_shared(:space_no::int, :resource_no::int)
            ELSE pg_advisory_lock(:space_no::int, :resource_no::int) END AS locked;

-- name: acquire when wait=try session=keep
SELECT CASE WHEN :mode = 'shared'
            THEN pg_try_advisory_lock_shared(:space_no::int, :resource_no::int)
            ELSE pg_try_advisory_lock(:space_no::int, :resource_no::int) END AS granted;

-- name: release
SELECT CASE WHEN :mode = 'shared'
            THEN pg_advisory_unlock_shared(:space_no::int, :resource_no::int)
            ELSE pg_advisory_unlock(:space_no::int, :resource_no::int) END AS granted;

-- name: teardown
