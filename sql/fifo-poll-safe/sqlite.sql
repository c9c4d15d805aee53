-- The repaired twin of fifo-poll. See strategies/fifo_poll_safe.c.
-- SQLite has one writer: the write transaction itself is the lock around the insert.

-- name: setup
CREATE TABLE resource (
    resource_id TEXT PRIMARY KEY,
    fence INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE request (
    ticket INTEGER PRIMARY KEY AUTOINCREMENT,
    resource_id TEXT NOT NULL,
    requesting_id TEXT NOT NULL,
    access_type TEXT NOT NULL CHECK (access_type IN ('X', 'S')),
    heartbeat REAL NOT NULL DEFAULT (julianday('now'))
);
CREATE INDEX request_resource ON request (resource_id, ticket);

-- name: resource
INSERT INTO resource (resource_id) VALUES (:resource);

-- name: enqueue
INSERT INTO request (resource_id, requesting_id, access_type)
VALUES (:resource, :worker, CASE WHEN :mode = 'shared' THEN 'S' ELSE 'X' END)
RETURNING ticket;

-- A writer ahead of a writer takes one place. A reader ahead of a writer, and a writer ahead of a
-- reader, take all of them: the two never hold together. Readers pass readers.
-- name: acquire when stale_ms=0
-- require: row
SELECT 1
FROM request AS mine
WHERE mine.ticket = :ticket
  AND (SELECT coalesce(sum(CASE WHEN :mode = 'exclusive' AND ahead.access_type = 'X'
                                THEN 1 ELSE :capacity END), 0)
       FROM request AS ahead
       WHERE ahead.resource_id = :resource
         AND ahead.ticket < :ticket
         AND (:mode = 'exclusive' OR ahead.access_type = 'X')) < :capacity;
UPDATE resource SET fence = fence + 1 WHERE resource_id = :resource RETURNING fence AS token;

-- Heartbeat and grant are one transaction: until it commits no session can remove the request, so a
-- granted request still existed. A poll that grants nothing still shows that its worker lives.
-- name: acquire when stale_ms!=0 tx=one commit=always
-- require: row
UPDATE request SET heartbeat = julianday('now') WHERE ticket = :ticket;
DELETE FROM request
WHERE resource_id = :resource AND heartbeat < julianday('now') - :stale_ms / 86400000.0;
-- require: row
SELECT 1
FROM request AS mine
WHERE mine.ticket = :ticket
  AND (SELECT coalesce(sum(CASE WHEN :mode = 'exclusive' AND ahead.access_type = 'X'
                                THEN 1 ELSE :capacity END), 0)
       FROM request AS ahead
       WHERE ahead.resource_id = :resource
         AND ahead.ticket < :ticket
         AND (:mode = 'exclusive' OR ahead.access_type = 'X')) < :capacity;
UPDATE resource SET fence = fence + 1 WHERE resource_id = :resource RETURNING fence AS token;

-- name: renew
UPDATE request SET heartbeat = julianday('now') WHERE ticket = :ticket AND requesting_id = :worker;

-- name: release
DELETE FROM request WHERE ticket = :ticket AND requesting_id = :worker;

-- name: cancel
DELETE FROM request WHERE ticket = :ticket AND requesting_id = :worker;

-- name: recover when stale_ms!=0
DELETE FROM request WHERE heartbeat < julianday('now') - :ttl_ms / 86400000.0;

-- name: teardown
DROP TABLE request;
DROP TABLE resource;
