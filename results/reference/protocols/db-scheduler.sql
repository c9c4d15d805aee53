-- Executions are picked optimistically: read what is due, then mark it if its version is still the same. The picker
-- sends heartbeats; an execution without one for too long is dead, and put back under a new version.
-- After db-scheduler (fetch, pick, dead executions). The statements are ours: no code of the library was run, and
-- no version of it is claimed.
-- Expected: right.
--
-- strategy: db-scheduler
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery

-- name: setup [postgres]
CREATE TABLE scheduled_tasks (id bigint PRIMARY KEY, task_name text NOT NULL, task_data text,
                              picked int NOT NULL DEFAULT 0, picked_by text, last_heartbeat timestamptz,
                              version bigint NOT NULL DEFAULT 1);

-- name: setup [mariadb]
CREATE TABLE scheduled_tasks (id bigint PRIMARY KEY, task_name varchar(64) NOT NULL, task_data text,
                              picked int NOT NULL DEFAULT 0, picked_by varchar(64), last_heartbeat datetime(6),
                              version bigint NOT NULL DEFAULT 1);

-- name: put [postgres, mariadb]
INSERT INTO scheduled_tasks (id, task_name, task_data) VALUES (:id, :class, :payload);

-- name: claim [postgres]
-- require: row
SELECT id, version AS seen FROM scheduled_tasks WHERE task_name = :class AND picked = 0 ORDER BY id LIMIT 1;
UPDATE scheduled_tasks
SET picked = 1, picked_by = :worker, last_heartbeat = clock_timestamp(), version = version + 1
WHERE id = :id AND picked = 0 AND version = :seen::bigint
RETURNING id, task_data AS payload, version AS token;

-- name: claim [mariadb]
-- require: row
SELECT id, version AS seen FROM scheduled_tasks WHERE task_name = :class AND picked = 0 ORDER BY id LIMIT 1;
-- require: row
UPDATE scheduled_tasks
SET picked = 1, picked_by = :worker, last_heartbeat = SYSDATE(6), version = version + 1
WHERE id = :id AND picked = 0 AND version = :seen;
SELECT id, task_data AS payload, version AS token FROM scheduled_tasks WHERE id = :id AND version = :seen + 1;

-- name: renew [postgres]
UPDATE scheduled_tasks SET last_heartbeat = clock_timestamp()
WHERE id = :id AND picked = 1 AND picked_by = :worker AND version = :token;

-- name: renew [mariadb]
UPDATE scheduled_tasks SET last_heartbeat = SYSDATE(6)
WHERE id = :id AND picked = 1 AND picked_by = :worker AND version = :token;

-- name: complete [postgres, mariadb]
DELETE FROM scheduled_tasks WHERE id = :id AND picked = 1 AND picked_by = :worker AND version = :token;

-- name: recover [postgres]
UPDATE scheduled_tasks SET picked = 0, picked_by = NULL, version = version + 1
WHERE picked = 1 AND last_heartbeat < clock_timestamp() - :ttl_ms * interval '1 millisecond';

-- name: recover [mariadb]
UPDATE scheduled_tasks SET picked = 0, picked_by = NULL, version = version + 1
WHERE picked = 1 AND last_heartbeat < SYSDATE(6) - INTERVAL :ttl_ms * 1000 MICROSECOND;

-- name: teardown [postgres, mariadb]
DROP TABLE scheduled_tasks;
