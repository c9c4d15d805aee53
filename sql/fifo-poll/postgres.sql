-- A control table polled in identity order, as published. See strategies/fifo_poll.c.

-- name: setup when form=extended
CREATE TABLE process_control (
    queue_position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    requesting_id text NOT NULL,
    resource_id text NOT NULL,
    access_type char(1) NOT NULL CHECK (access_type IN ('X', 'S')),
    request_time timestamptz NOT NULL DEFAULT clock_timestamp()
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

-- One's own place is looked up by the requesting id, as in the article: two participants with one
-- id share the first one's place, and the release of one ends both. (min: a scalar sub-select over
-- two rows would be an error that hides this.)
-- name: acquire when form=extended read=snapshot stale_ms=0
SELECT 1 AS granted
WHERE (SELECT count(*)
       FROM process_control
       WHERE resource_id = :resource
         AND (:mode = 'exclusive' OR access_type = 'X')
         AND queue_position < (SELECT min(queue_position)
                               FROM process_control
                               WHERE resource_id = :resource AND requesting_id = :worker)
      ) < :capacity;

-- name: acquire when form=extended read=snapshot stale_ms!=0
DELETE FROM process_control
WHERE request_time < clock_timestamp() - :stale_ms * interval '1 millisecond';
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

-- The remedy for a participant that died: its row is deleted, by an operator or by stale_ms.
-- name: recover when form=extended
DELETE FROM process_control
WHERE request_time < clock_timestamp() - :ttl_ms * interval '1 millisecond';

-- As published: two columns, neither key nor index, one line for everything.
-- name: setup when form=published
CREATE TABLE process_control (queue_position bigint GENERATED ALWAYS AS IDENTITY, requesting_id char(255) NOT NULL);

-- name: enqueue when form=published insert=autocommit
INSERT INTO process_control (requesting_id) VALUES (:worker) RETURNING queue_position AS ticket;

-- name: enqueue when form=published insert=transaction tx=one
INSERT INTO process_control (requesting_id) VALUES (:worker) RETURNING queue_position AS ticket;

-- name: acquire when form=published read=snapshot stale_ms=0
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
