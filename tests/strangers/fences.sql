-- A lease whose holder writes its token to what the lock guards. number=counted counts it up in the statement that takes
-- the lock: right. number=read reads it in a statement of its own, before the lock is taken: two may have read one number.
-- number=kept counts it up for a new row only, and a take-over keeps the old number. number=time uses the clock's.
-- Truth expected: counted right; the others broken: fenced.
--
-- strategy: fences
-- shape: lock
-- claims: exclusive, fenced
-- option: lease_ms = 60000
-- option: number = counted | read | kept | time
-- lease: lease_ms

-- name: setup
CREATE TABLE held (name varchar(60) PRIMARY KEY, owner varchar(60), until_ms bigint NOT NULL DEFAULT 0,
    fence bigint NOT NULL DEFAULT 0);

-- name: resource
INSERT INTO held (name) VALUES (:resource);

-- name: acquire [sqlite,postgres] when number=counted
UPDATE held SET owner = :worker, until_ms = :now + :lease_ms, fence = fence + 1
WHERE name = :resource AND until_ms <= :now RETURNING fence AS token;

-- name: acquire [sqlite,postgres] when number=read
-- require: row
SELECT fence + 1 AS token FROM held WHERE name = :resource;
UPDATE held SET owner = :worker, until_ms = :now + :lease_ms, fence = :token
WHERE name = :resource AND until_ms <= :now;

-- name: acquire [sqlite,postgres] when number=kept
UPDATE held SET owner = :worker, until_ms = :now + :lease_ms
WHERE name = :resource AND until_ms <= :now RETURNING fence AS token;

-- name: acquire [sqlite,postgres] when number=time
UPDATE held SET owner = :worker, until_ms = :now + :lease_ms
WHERE name = :resource AND until_ms <= :now RETURNING until_ms / 1000 AS token;

-- name: release
UPDATE held SET until_ms = 0 WHERE name = :resource AND owner = :worker;

-- name: teardown
DROP TABLE held;
