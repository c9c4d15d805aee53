-- A semaphore with a stored number of free permits. Each request sweeps up expired permits: it counts them, and then deletes
-- them. cut=once reads the clock once for both; cut=twice reads it for each: a permit that expires in between is deleted
-- and never given back. A common mechanism. Truth expected: once right; twice broken: permits.
--
-- strategy: swept
-- shape: lock
-- claims: exclusive, permits
-- option: ttl_ms = 1000
-- option: cut = once | twice
-- lease: ttl_ms

-- name: setup
CREATE TABLE semaphore (name varchar(60) PRIMARY KEY, free integer NOT NULL);
CREATE TABLE permit (name varchar(60) NOT NULL, worker varchar(60) NOT NULL, until_ms bigint NOT NULL,
                     PRIMARY KEY (name, worker));

-- name: resource
INSERT INTO semaphore (name, free) VALUES (:resource, :capacity);

-- name: acquire [sqlite] tx=one begin=immediate when cut=once
SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS at_ms;
UPDATE semaphore SET free = free + (SELECT count(*) FROM permit WHERE permit.name = :resource AND until_ms <= :at_ms)
WHERE name = :resource;
DELETE FROM permit WHERE name = :resource AND until_ms <= :at_ms;
-- require: row
UPDATE semaphore SET free = free - 1 WHERE name = :resource AND free > 0;
INSERT INTO permit (name, worker, until_ms)
VALUES (:resource, :worker, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) + :ttl_ms);

-- name: acquire [sqlite] tx=one begin=immediate when cut=twice
UPDATE semaphore
SET free = free + (SELECT count(*) FROM permit
                   WHERE permit.name = :resource AND until_ms <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
WHERE name = :resource;
DELETE FROM permit
WHERE name = :resource AND until_ms <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER);
-- require: row
UPDATE semaphore SET free = free - 1 WHERE name = :resource AND free > 0;
INSERT INTO permit (name, worker, until_ms)
VALUES (:resource, :worker, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) + :ttl_ms);

-- name: release [sqlite] tx=one begin=immediate
-- require: row
DELETE FROM permit WHERE name = :resource AND worker = :worker;
UPDATE semaphore SET free = free + 1 WHERE name = :resource;

-- name: permits [sqlite]
SELECT free + (SELECT count(*) FROM permit
               WHERE permit.name = :resource
                 AND until_ms <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS free
FROM semaphore WHERE name = :resource;

-- name: teardown
DROP TABLE semaphore;
DROP TABLE permit;
