-- A semaphore: how many permits are free is a number, and each holder has a row with the end of
-- its lease. A request for a permit first takes back expired ones. A release checks its own row
-- (release=own), or does not (release=always): an expired permit is given back twice.
-- reap=dropped takes the rows of late holders and forgets the number. A common mechanism. Truth
-- expected: own, counted right; always broken: permits, and exclusive by and by; dropped broken:
-- permits.
--
-- strategy: semaphore
-- shape: lock
-- claims: exclusive, permits
-- option: release = own | always
-- option: reap = counted | dropped

-- name: setup
CREATE TABLE semaphore (name varchar(60) PRIMARY KEY, free integer NOT NULL);
CREATE TABLE holder (name varchar(60) NOT NULL, worker varchar(60) NOT NULL, until_ms bigint NOT NULL,
                     PRIMARY KEY (name, worker));

-- name: resource
INSERT INTO semaphore (name, free) VALUES (:resource, :capacity);

-- name: acquire [sqlite] tx=one begin=immediate when reap=counted
UPDATE semaphore
SET free = free + (SELECT count(*) FROM holder WHERE holder.name = :resource AND until_ms <= :now)
WHERE name = :resource;
DELETE FROM holder WHERE name = :resource AND until_ms <= :now;
-- require: row
UPDATE semaphore SET free = free - 1 WHERE name = :resource AND free > 0;
INSERT INTO holder (name, worker, until_ms) VALUES (:resource, :worker, :now + :ttl_ms);

-- name: acquire [postgres] tx=one when reap=counted
SELECT free FROM semaphore WHERE name = :resource FOR UPDATE;
UPDATE semaphore
SET free = free + (SELECT count(*) FROM holder WHERE holder.name = :resource AND until_ms <= :now)
WHERE name = :resource;
DELETE FROM holder WHERE name = :resource AND until_ms <= :now;
-- require: row
UPDATE semaphore SET free = free - 1 WHERE name = :resource AND free > 0;
INSERT INTO holder (name, worker, until_ms) VALUES (:resource, :worker, :now + :ttl_ms);

-- name: acquire [sqlite,postgres] tx=one begin=immediate when reap=dropped
DELETE FROM holder WHERE name = :resource AND until_ms <= :now;
-- require: row
UPDATE semaphore SET free = free - 1 WHERE name = :resource AND free > 0;
INSERT INTO holder (name, worker, until_ms) VALUES (:resource, :worker, :now + :ttl_ms);

-- name: release [sqlite] tx=one begin=immediate when release=own
-- require: row
DELETE FROM holder WHERE name = :resource AND worker = :worker;
UPDATE semaphore SET free = free + 1 WHERE name = :resource;

-- name: release [postgres] tx=one when release=own
SELECT free FROM semaphore WHERE name = :resource FOR UPDATE;
-- require: row
DELETE FROM holder WHERE name = :resource AND worker = :worker;
UPDATE semaphore SET free = free + 1 WHERE name = :resource;

-- name: release [sqlite,postgres] tx=one begin=immediate when release=always
DELETE FROM holder WHERE name = :resource AND worker = :worker;
UPDATE semaphore SET free = free + 1 WHERE name = :resource;

-- name: permits
SELECT free + (SELECT count(*) FROM holder WHERE holder.name = :resource AND until_ms <= :now) AS free
FROM semaphore WHERE name = :resource;

-- name: teardown
DROP TABLE semaphore;
DROP TABLE holder;
