-- A named lock of the server is a gate: one at a time looks for a job and takes it. gate=behind opens it when the claim has
-- committed; gate=within before that.
-- A common mechanism. Truth expected: behind right (it promises nothing about dead workers); within broken:
-- no-duplicate.
--
-- strategy: gate
-- shape: queue
-- claims: no-duplicate, no-loss
-- option: gate = behind | within

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, payload text, owner varchar(60));

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [mariadb] when gate=behind
-- require: row
SELECT 1 FROM (SELECT GET_LOCK(CONCAT('gate', :space_no), 20) AS got) AS g WHERE got = 1;
-- answer: row
SELECT id, payload FROM job WHERE owner IS NULL ORDER BY id LIMIT 1;
-- if: row
UPDATE job SET owner = :worker WHERE id = :id;
SELECT RELEASE_LOCK(CONCAT('gate', :space_no));

-- name: claim [mariadb] tx=one when gate=within
-- require: row
SELECT 1 FROM (SELECT GET_LOCK(CONCAT('gate', :space_no), 20) AS got) AS g WHERE got = 1;
-- answer: row
SELECT id, payload FROM job WHERE owner IS NULL ORDER BY id LIMIT 1;
-- if: row
UPDATE job SET owner = :worker WHERE id = :id;
SELECT RELEASE_LOCK(CONCAT('gate', :space_no));

-- name: complete
DELETE FROM job WHERE id = :id AND owner = :worker;

-- name: teardown
DROP TABLE job;
