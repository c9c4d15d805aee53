-- A control table polled in identity order, as published. See strategies/fifo_poll.c.

-- name: setup when form=extended
CREATE TABLE process_control (
    queue_position bigint AUTO_INCREMENT PRIMARY KEY,
    requesting_id varchar(64) NOT NULL,
    resource_id varchar(64) NOT NULL,
    access_type char(1) NOT NULL CHECK (access_type IN ('X', 'S')),
    request_time datetime(6) NOT NULL DEFAULT SYSDATE(6)
);
CREATE INDEX process_control_resource ON process_control (resource_id, queue_position);

-- name: enqueue when form=extended insert=autocommit
INSERT INTO process_control (requesting_id, resource_id, access_type)
VALUES (:worker, :resource, CASE WHEN :mode = 'shared' THEN 'S' ELSE 'X' END)
RETURNING queue_position AS ticket;

-- name: enqueue when form=extended insert=transaction tx=one
INSERT INTO process_control (requesting_id, resource_id, access_type)
VALUES (:worker, :resource, CASE WHEN :mode = 'shared' THEN 'S' ELSE 'X' END)
RETURNING queue_position AS ticket;

-- name: acquire when form=extended read=snapshot stale_ms=0
SELECT 1 AS granted
FROM DUAL
WHERE (SELECT count(*)
       FROM process_control
       WHERE resource_id = :resource
         AND (:mode = 'exclusive' OR access_type = 'X')
         AND queue_position < (SELECT min(queue_position)
                               FROM process_control
                               WHERE resource_id = :resource AND requesting_id = :worker)
      ) < :capacity;

-- name: acquire when form=extended read=locking stale_ms=0
SELECT 1 AS granted
FROM DUAL
WHERE (SELECT count(*)
       FROM process_control
       WHERE resource_id = :resource
         AND (:mode = 'exclusive' OR access_type = 'X')
         AND queue_position < (SELECT min(queue_position)
                               FROM process_control
                               WHERE resource_id = :resource AND requesting_id = :worker)
       LOCK IN SHARE MODE) < :capacity;

-- name: acquire when form=extended read=snapshot stale_ms!=0
DELETE FROM process_control WHERE request_time < SYSDATE(6) - INTERVAL :stale_ms * 1000 MICROSECOND;
SELECT 1 AS granted
FROM DUAL
WHERE (SELECT count(*)
       FROM process_control
       WHERE resource_id = :resource
         AND (:mode = 'exclusive' OR access_type = 'X')
         AND queue_position < (SELECT min(queue_position)
                               FROM process_control
                               WHERE resource_id = :resource AND requesting_id = :worker)
      ) < :capacity;

-- name: acquire when form=extended read=locking stale_ms!=0
DELETE FROM process_control WHERE request_time < SYSDATE(6) - INTERVAL :stale_ms * 1000 MICROSECOND;
SELECT 1 AS granted
FROM DUAL
WHERE (SELECT count(*)
       FROM process_control
       WHERE resource_id = :resource
         AND (:mode = 'exclusive' OR access_type = 'X')
         AND queue_position < (SELECT min(queue_position)
                               FROM process_control
                               WHERE resource_id = :resource AND requesting_id = :worker)
       LOCK IN SHARE MODE) < :capacity;

-- name: release when form=extended
DELETE FROM process_control WHERE resource_id = :resource AND requesting_id = :worker;

-- name: cancel when form=extended
DELETE FROM process_control WHERE resource_id = :resource AND requesting_id = :worker;

-- name: recover when form=extended
DELETE FROM process_control WHERE request_time < SYSDATE(6) - INTERVAL :ttl_ms * 1000 MICROSECOND;

-- As published: two columns, neither key nor index, one line for everything. (MariaDB numbers an indexed column only.)
-- name: setup when form=published
CREATE TABLE process_control (queue_position bigint AUTO_INCREMENT, requesting_id char(255) NOT NULL, INDEX (queue_position));

-- name: setup when form=parted
CREATE SEQUENCE process_control_number;
CREATE TABLE process_control (queue_position bigint, requesting_id char(255) NOT NULL, INDEX (queue_position));

-- name: enqueue when form=published insert=autocommit
INSERT INTO process_control (requesting_id) VALUES (:worker) RETURNING queue_position AS ticket;

-- name: enqueue when form=published insert=transaction tx=one
INSERT INTO process_control (requesting_id) VALUES (:worker) RETURNING queue_position AS ticket;

-- The two steps of AUTO_INCREMENT within the INSERT: the number is drawn, and then its row is
-- written.
-- name: enqueue when form=parted
SELECT NEXT VALUE FOR process_control_number AS number;
INSERT INTO process_control (queue_position, requesting_id) VALUES (:number, :worker) RETURNING queue_position AS ticket;

-- name: acquire when form=published|parted read=snapshot stale_ms=0
SELECT 1 AS granted
FROM DUAL
WHERE (SELECT count(*)
       FROM process_control
       WHERE queue_position < (SELECT min(queue_position)
                               FROM process_control
                               WHERE requesting_id = :worker)
      ) = 0;

-- name: acquire when form=published|parted read=locking stale_ms=0
SELECT 1 AS granted
FROM DUAL
WHERE (SELECT count(*)
       FROM process_control
       WHERE queue_position < (SELECT min(queue_position)
                               FROM process_control
                               WHERE requesting_id = :worker)
       LOCK IN SHARE MODE) = 0;

-- name: release when form=published|parted
DELETE FROM process_control WHERE requesting_id = :worker;

-- name: cancel when form=published|parted
DELETE FROM process_control WHERE requesting_id = :worker;

-- name: teardown
DROP TABLE process_control;
DROP SEQUENCE IF EXISTS process_control_number;
