-- The repaired twin of fifo-poll. See strategies/fifo_poll_safe.c.

-- name: setup
CREATE TABLE resource (
    resource_id varchar(64) PRIMARY KEY,
    fence bigint NOT NULL DEFAULT 0
);
CREATE TABLE request (
    ticket bigint AUTO_INCREMENT PRIMARY KEY,
    resource_id varchar(64) NOT NULL,
    requesting_id varchar(64) NOT NULL,
    access_type char(1) NOT NULL CHECK (access_type IN ('X', 'S')),
    heartbeat datetime(6) NOT NULL DEFAULT SYSDATE(6)
);
CREATE INDEX request_resource ON request (resource_id, ticket);

-- name: resource
INSERT INTO resource (resource_id) VALUES (:resource);

-- The lock ends when the row is visible to others, and not before.
-- name: enqueue tx=one
-- require: row
SELECT 1 FROM resource WHERE resource_id = :resource FOR UPDATE;
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
-- require: row
UPDATE resource SET fence = LAST_INSERT_ID(fence + 1) WHERE resource_id = :resource;
SELECT LAST_INSERT_ID() AS token;

-- Heartbeat and grant are one transaction: until it commits no session can remove the request, so a
-- granted request still existed. A poll that grants nothing still shows that its worker lives.
-- name: acquire when stale_ms!=0 tx=one commit=always
-- require: row
UPDATE request SET heartbeat = SYSDATE(6) WHERE ticket = :ticket;
DELETE FROM request
WHERE resource_id = :resource
  AND heartbeat < SYSDATE(6) - INTERVAL :stale_ms * 1000 MICROSECOND;
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
-- require: row
UPDATE resource SET fence = LAST_INSERT_ID(fence + 1) WHERE resource_id = :resource;
SELECT LAST_INSERT_ID() AS token;

-- name: renew
UPDATE request SET heartbeat = SYSDATE(6)
WHERE ticket = :ticket AND requesting_id = :worker;

-- name: release
DELETE FROM request WHERE ticket = :ticket AND requesting_id = :worker;

-- name: cancel
DELETE FROM request WHERE ticket = :ticket AND requesting_id = :worker;

-- name: recover when stale_ms!=0
DELETE FROM request WHERE heartbeat < SYSDATE(6) - INTERVAL :ttl_ms * 1000 MICROSECOND;

-- name: teardown
DROP TABLE request;
DROP TABLE resource;
