-- A scheduler counts what is due, then locks the row TRIGGER_ACCESS and, with that held, picks a trigger and marks
-- it. The transaction's snapshot is as old as its first read.
-- After Quartz's JDBC job store with LockSemaphore. The statements are ours: no code of the library was run, and no
-- version of it is claimed.
-- Expected: on MariaDB at REPEATABLE READ broken: the pick reads the snapshot from before the wait, the update by
-- number overwrites: no-duplicate. At READ COMMITTED right; on PostgreSQL right at both (the update of a newer row
-- is refused with 40001).
--
-- strategy: quartz
-- shape: queue
-- isolation: repeatable read
-- claims: no-duplicate, no-loss, bounded-claim, owner-release

-- name: setup [postgres, mariadb]
CREATE TABLE locks (lock_name varchar(40) PRIMARY KEY);
INSERT INTO locks VALUES ('TRIGGER_ACCESS');
CREATE TABLE triggers (
    id bigint PRIMARY KEY,
    class varchar(64) NOT NULL,
    payload text,
    state varchar(16) NOT NULL DEFAULT 'WAITING',
    instance varchar(64)
);
CREATE INDEX triggers_state ON triggers (class, state, id);

-- name: put [postgres, mariadb]
INSERT INTO triggers (id, class, payload) VALUES (:id, :class, :payload);

-- name: claim [postgres, mariadb] tx=one
-- on-error: busy
-- require: row
SELECT id AS candidate FROM triggers WHERE class = :class AND state = 'WAITING' LIMIT 1;
SELECT lock_name FROM locks WHERE lock_name = 'TRIGGER_ACCESS' FOR UPDATE;
-- require: row
SELECT id AS picked FROM triggers WHERE class = :class AND state = 'WAITING' ORDER BY id LIMIT 1;
UPDATE triggers SET state = 'ACQUIRED', instance = :worker WHERE id = :picked;
SELECT id, payload FROM triggers WHERE id = :picked;

-- name: complete [postgres, mariadb]
-- on-error: retry
UPDATE triggers SET state = 'COMPLETE' WHERE id = :id AND state = 'ACQUIRED' AND instance = :worker;

-- name: teardown [postgres, mariadb]
DROP TABLE triggers;
DROP TABLE locks;
