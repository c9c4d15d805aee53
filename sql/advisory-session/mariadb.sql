-- A session's named lock. See strategies/advisory_session.c.

-- name: setup

-- name: acquire when wait=block session=keep
SELECT GET_LOCK(CONCAT('lockbench.', :space_no, '.', :resource), 10) AS granted;

-- name: acquire when wait=try session=keep
SELECT GET_LOCK(CONCAT('lockbench.', :space_no, '.', :resource), 0) AS granted;

-- name: release
SELECT RELEASE_LOCK(CONCAT('lockbench.', :space_no, '.', :resource)) AS granted;

-- name: teardown
