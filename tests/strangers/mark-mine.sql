-- Mark mine, read mine: an UPDATE marks as many items as were asked for, and a SELECT reads them back. read=stamp reads those of
-- this claim; read=mine reads all that its worker has in hand, also from earlier claims. A common mechanism on MySQL.
-- Truth expected: stamp right; mine broken, if a worker claims again before it has ended all: no-duplicate.
--
-- strategy: mark-mine
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release
-- option: read = stamp | mine

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload varchar(200), state int NOT NULL DEFAULT 0, worker varchar(80), stamp varchar(80));

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [sqlite] when read=stamp
SELECT hex(randomblob(8)) AS mark;
-- require: row
UPDATE job SET state = 1, worker = :worker, stamp = :mark
WHERE id IN (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT :n);
SELECT id, payload FROM job WHERE stamp = :mark AND state = 1 ORDER BY id;
-- name: claim [sqlite] when read=mine
UPDATE job SET state = 1, worker = :worker WHERE id IN (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT :n);
SELECT id, payload FROM job WHERE worker = :worker AND state = 1 ORDER BY id;
-- name: claim [mariadb] when read=stamp
SELECT UUID() AS mark;
-- require: row
UPDATE job SET state = 1, worker = :worker, stamp = :mark WHERE state = 0 ORDER BY id LIMIT :n;
SELECT id, payload FROM job WHERE stamp = :mark AND state = 1 ORDER BY id;
-- name: claim [mariadb] when read=mine
UPDATE job SET state = 1, worker = :worker WHERE state = 0 ORDER BY id LIMIT :n;
SELECT id, payload FROM job WHERE worker = :worker AND state = 1 ORDER BY id;

-- name: complete
UPDATE job SET state = 2 WHERE id = :id AND state = 1 AND worker = :worker;

-- name: teardown
DROP TABLE job;
