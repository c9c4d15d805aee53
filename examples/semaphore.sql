-- A semaphore: at most :capacity holders at a time, on any engine.
--
-- One row for each place. A worker takes a free place by one conditional UPDATE; if two want the
-- same one, the second condition on `owner` decides, which is checked again with the row locked.
-- (Counting the holders and inserting oneself lets too many in: count-gate.)
--
--   lockbench verify -s ./examples/semaphore.sql -S limited -d sqlite: -d postgresql://...
--
-- strategy: semaphore
-- shape: lock
-- summary: one row per place, taken by a conditional UPDATE
-- claims: exclusive, owner-release

-- name: setup
CREATE TABLE place (
    name varchar(64) NOT NULL,
    place_no int NOT NULL,
    owner varchar(64),
    PRIMARY KEY (name, place_no)
);

-- name: resource [postgres]
INSERT INTO place (name, place_no) SELECT :resource, i FROM generate_series(1, :capacity::int) AS i;

-- name: resource [sqlite, mariadb]
INSERT INTO place (name, place_no)
WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < :capacity)
SELECT :resource, i FROM numbers;

-- name: acquire
-- require: row
SELECT place_no FROM place WHERE name = :resource AND owner IS NULL ORDER BY place_no LIMIT 1;
UPDATE place SET owner = :worker
WHERE name = :resource AND place_no = :place_no AND owner IS NULL;

-- name: release
UPDATE place SET owner = NULL WHERE name = :resource AND place_no = :place_no AND owner = :worker;

-- name: teardown
DROP TABLE place;
