-- A lease that its worker reckons by its own clock, as ShedLock's plain JDBC provider does, and a server with its own
-- clock for takeovers, as a colleague's clean-up did. clock=workers is right: all of it uses :now. clock=mixed
-- compares :now's end with the server's time; clock=stamped stores the server's and compares it with :now.
-- Truth expected: workers right; mixed and stamped broken: exclusive, as soon as a worker's clock is not the server's.
--
-- strategy: clocks-lock
-- shape: lock
-- claims: exclusive, owner-release
-- option: clock = workers | mixed | stamped
-- option: lease_ms = 60000
-- lease: lease_ms

-- name: setup [sqlite]
CREATE TABLE shedlock (name varchar(64) PRIMARY KEY, lock_until bigint NOT NULL, locked_by varchar(64),
    seen_at text DEFAULT CURRENT_TIMESTAMP);

-- name: setup [postgres]
CREATE TABLE shedlock (name varchar(64) PRIMARY KEY, lock_until bigint NOT NULL, locked_by varchar(64),
    seen_at timestamptz DEFAULT now());

-- name: setup [mariadb]
CREATE TABLE shedlock (name varchar(64) PRIMARY KEY, lock_until bigint NOT NULL, locked_by varchar(64),
    seen_at timestamp(6) DEFAULT CURRENT_TIMESTAMP(6));

-- name: resource
INSERT INTO shedlock (name, lock_until) VALUES (:resource, 0);

-- name: acquire when clock=workers
UPDATE shedlock SET lock_until = :now + :lease_ms, locked_by = :worker
WHERE name = :resource AND lock_until <= :now;

-- name: acquire [sqlite] when clock=mixed
UPDATE shedlock SET lock_until = :now + :lease_ms, locked_by = :worker
WHERE name = :resource AND lock_until <= (julianday('now') - 2440587.5) * 86400000;

-- name: acquire [sqlite] when clock=stamped
UPDATE shedlock SET lock_until = (julianday('now') - 2440587.5) * 86400000 + :lease_ms, locked_by = :worker
WHERE name = :resource AND lock_until <= :now;

-- name: acquire [postgres] when clock=mixed
UPDATE shedlock SET lock_until = :now + :lease_ms, locked_by = :worker
WHERE name = :resource AND lock_until <= extract(epoch FROM clock_timestamp()) * 1000;

-- name: acquire [postgres] when clock=stamped
UPDATE shedlock SET lock_until = extract(epoch FROM clock_timestamp()) * 1000 + :lease_ms, locked_by = :worker
WHERE name = :resource AND lock_until <= :now;

-- name: acquire [mariadb] when clock=mixed
UPDATE shedlock SET lock_until = :now + :lease_ms, locked_by = :worker
WHERE name = :resource AND lock_until <= UNIX_TIMESTAMP(SYSDATE(6)) * 1000;

-- name: acquire [mariadb] when clock=stamped
UPDATE shedlock SET lock_until = UNIX_TIMESTAMP(SYSDATE(6)) * 1000 + :lease_ms, locked_by = :worker
WHERE name = :resource AND lock_until <= :now;

-- name: release
UPDATE shedlock SET lock_until = 0, locked_by = NULL
WHERE name = :resource AND locked_by = :worker;

-- name: teardown
DROP TABLE shedlock;
