-- Each holder has a row of its own, with the end of its lease; expired rows are not counted. A release
-- removes the row of its worker: it may be past by then, while another holds, and that other one keeps
-- the lock. release=own does that; release=all removes the rows of all workers. A common mechanism.
-- Truth expected: own right; all broken: a late release ends another's hold: owner-release, and
-- exclusive.
--
-- strategy: own-rows
-- shape: lock
-- claims: exclusive, owner-release, recovery
-- isolation: serializable
-- option: release = own | all
-- rows: release

-- name: setup
CREATE TABLE holder (name varchar(60) NOT NULL, worker varchar(60) NOT NULL, until_ms bigint NOT NULL,
                     PRIMARY KEY (name, worker));

-- name: acquire [postgres,sqlite] tx=one begin=immediate
-- on-error: busy
-- require: row
SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM holder WHERE name = :resource AND until_ms > :now);
INSERT INTO holder (name, worker, until_ms) VALUES (:resource, :worker, :now + :ttl_ms)
ON CONFLICT (name, worker) DO UPDATE SET until_ms = excluded.until_ms;

-- name: release [postgres,sqlite] when release=own
-- on-error: retry
DELETE FROM holder WHERE name = :resource AND worker = :worker;

-- name: release [postgres,sqlite] when release=all
-- on-error: retry
DELETE FROM holder WHERE name = :resource;

-- name: teardown
DROP TABLE holder;
