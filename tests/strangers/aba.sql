-- A version that begins anew. wrap=1000000 hardly ever; wrap=2 has the same version after two holds, which a slow worker
-- takes for the one that it has read. Truth expected: 1000000 right; 2 broken: exclusive.
--
-- strategy: aba
-- shape: lock
-- claims: exclusive
-- option: wrap = 1000000 | 2
-- name: setup
CREATE TABLE held (name varchar(60) PRIMARY KEY, owner varchar(80), version int NOT NULL DEFAULT 0);
-- name: resource
INSERT INTO held (name) VALUES (:resource);
-- name: acquire
-- require: row
SELECT version AS seen FROM held WHERE name = :resource AND owner IS NULL;
UPDATE held SET owner = :worker, version = (version + 1) % {wrap} WHERE name = :resource AND version = :seen;
-- name: release
UPDATE held SET owner = NULL WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP TABLE held;
