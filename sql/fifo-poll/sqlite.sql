-- A control table polled in identity order, as published. See strategies/fifo_poll.c.
-- AUTOINCREMENT: without it SQLite gives the number of a deleted row to the next one.

-- name: setup when form=extended
CREATE TABLE process_control (
    queue_position INTEGER PRIMARY KEY AUTOINCREMENT,
    requesting_id TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    access_type TEXT NOT NULL CHECK (access_type IN ('X', 'S')),
    request_time REAL NOT NULL DEFAULT (julianday('now'))
);
CREATE INDEX process_control_resource ON process_control (resource_id, queue_position);

-- name: enqueue when form=extended insert=autocommit
INSERT INTO process_control (requesting_id, resource_id, access_type)
VALUES (:worker, :resource, CASE WHEN :mode = 'shared' THEN 'S' ELSE 'X' END)
RETURNING queue_position AS ticket;

-- name: enqueue when form=extended insert=transaction tx=one begin=immediate
INSERT INTO process_control (requesting_id, resource_id, access_type)
VALUES (:worker, :resource, CASE WHEN :mode = 'shared' THEN 'S' ELSE 'X' END)
RETURNING queue_position AS ticket;

-- name: acquire when form=extended stale_ms=0
SELECT 1 AS granted
WHERE (SELECT count(*)
       FROM process_control
       WHERE resource_id = :resource
         AND (:mode = 'exclusive' OR access_type = 'X')
         AND queue_position < (SELECT min(queue_position)
                               FROM process_control
                               WHERE resource_id = :resource AND requesting_id = :worker)
      ) < :capacity;

-- name: acquire when form=extended stale_ms!=0
DELETE FROM process_control WHERE request_time < julianday('now') - :stale_ms / 86400000.0;
SELECT 1 AS granted
WHERE (SELECT count(*)
       FROM process_control
       WHERE resource_id = :resource
         AND (:mode = 'exclusive' OR access_type = 'X')
         AND queue_position < (SELECT min(queue_position)
                               FROM process_control
                               WHERE resource_id = :resource AND requesting_id = :worker)
      ) < :capacity;

-- name: release when form=extended
DELETE FROM process_control WHERE resource_id = :resource AND requesting_id = :worker;

-- name: cancel when form=extended
DELETE FROM process_control WHERE resource_id = :resource AND requesting_id = :worker;

-- name: recover when form=extended
DELETE FROM process_control WHERE request_time < julianday('now') - :ttl_ms / 86400000.0;

-- As published: two columns, neither key nor index, one line for everything. (SQLite numbers a primary key only.)
-- name: setup when form=published
CREATE TABLE process_control (queue_position INTEGER PRIMARY KEY AUTOINCREMENT, requesting_id TEXT NOT NULL);

-- name: enqueue when form=published insert=autocommit
INSERT INTO process_control (requesting_id) VALUES (:worker) RETURNING queue_position AS ticket;

-- name: enqueue when form=published insert=transaction tx=one begin=immediate
INSERT INTO process_control (requesting_id) VALUES (:worker) RETURNING queue_position AS ticket;

-- name: acquire when form=published stale_ms=0
SELECT 1 AS granted
WHERE (SELECT count(*)
       FROM process_control
       WHERE queue_position < (SELECT min(queue_position)
                               FROM process_control
                               WHERE requesting_id = :worker)
      ) = 0;

-- name: release when form=published
DELETE FROM process_control WHERE requesting_id = :worker;

-- name: cancel when form=published
DELETE FROM process_control WHERE requesting_id = :worker;

-- name: teardown
DROP TABLE process_control;
