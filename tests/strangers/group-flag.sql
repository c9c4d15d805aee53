-- One item of a group at a time: a flag of the group. finish=all: the end of an item clears the flags of all groups.
-- Truth expected: all broken: group-exclusive; own right.
--
-- strategy: group-flag
-- shape: queue
-- claims: group-exclusive
-- option: finish = all | own
-- name: setup
CREATE TABLE family (name text PRIMARY KEY, holder text);
CREATE TABLE job (id integer PRIMARY KEY, family text, state int NOT NULL DEFAULT 0, worker text, payload text);
-- name: put tx=one
INSERT OR IGNORE INTO family (name) VALUES (:group);
INSERT INTO job (id, family, payload) VALUES (:id, :group, :payload);
-- name: claim tx=one begin=immediate
-- require: row
UPDATE job SET state = 1, worker = :worker
WHERE id = (SELECT id FROM job JOIN family ON family = name WHERE state = 0 AND holder IS NULL ORDER BY id LIMIT 1);
UPDATE family SET holder = :worker
WHERE name = (SELECT family FROM job WHERE worker = :worker AND state = 1 ORDER BY id DESC LIMIT 1);
SELECT id, payload FROM job WHERE worker = :worker AND state = 1 ORDER BY id DESC LIMIT 1;
-- name: complete tx=one when finish=own
UPDATE family SET holder = NULL WHERE name = (SELECT family FROM job WHERE id = :id AND state = 1);
UPDATE job SET state = 2 WHERE id = :id AND worker = :worker AND state = 1;
-- name: complete tx=one when finish=all
UPDATE family SET holder = NULL;
UPDATE job SET state = 2 WHERE id = :id AND worker = :worker AND state = 1;
-- name: teardown
DROP TABLE job;
DROP TABLE family;
