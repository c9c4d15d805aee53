-- Jobs of a server whose session has a clock of its own (SET timestamp): an item that a worker gives back is due at once. Right.
-- strategy: at-once
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release
-- isolation: read committed
-- option: stale_ms = 2000
-- limit: stale_ms
-- lease: none
-- precision: fine

-- name: setup [mariadb]
CREATE TABLE job (
    id bigint PRIMARY KEY, queue varchar(64) NOT NULL, payload text,
    state varchar(10) NOT NULL DEFAULT 'ready', due_at datetime(3) NOT NULL DEFAULT '2000-01-01',
    taken_at datetime(3), token bigint NOT NULL DEFAULT 0
) ENGINE = InnoDB;

-- name: put [mariadb]
INSERT INTO job (id, queue, payload) VALUES (:id, :class, :payload);

-- name: claim [mariadb] tx=one
-- require: row
SELECT id AS candidate FROM job WHERE queue = :class AND state = 'ready' AND due_at <= NOW(3)
ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE job SET state = 'taken', token = token + 1, taken_at = NOW(3) WHERE id = :candidate;
SELECT id, payload, token FROM job WHERE id = :candidate;

-- name: complete [mariadb]
UPDATE job SET state = 'done' WHERE id = :id AND state = 'taken' AND token = :token;

-- name: retry [mariadb]
UPDATE job SET state = 'ready', due_at = NOW(3) + INTERVAL :delay_ms * 1000 MICROSECOND
WHERE id = :id AND state = 'taken' AND token = :token;

-- name: recover [mariadb]
SELECT GROUP_CONCAT(id) AS stuck
FROM (SELECT id FROM job
      WHERE state = 'taken' AND taken_at < NOW(3) - INTERVAL :stale_ms * 1000 MICROSECOND
      ORDER BY taken_at LIMIT 20) AS old;
UPDATE job SET state = 'ready'
WHERE FIND_IN_SET(id, :stuck) AND state = 'taken' AND taken_at < NOW(3) - INTERVAL :stale_ms * 1000 MICROSECOND;

-- name: teardown [mariadb]
DROP TABLE job;
