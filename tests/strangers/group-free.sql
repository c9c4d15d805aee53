-- A group's row says which job of the group is in hand. free=name opens the group by its name, also where another
-- has one of its jobs by now. Truth expected: own right; name broken: group-exclusive.
--
-- strategy: group-free
-- shape: queue
-- claims: no-duplicate, group-exclusive, recovery
-- option: free = own | name
-- option: stale_ms = 120000
-- limit: stale_ms

-- name: setup
CREATE TABLE grp (name varchar(40) PRIMARY KEY, job bigint, run bigint);
CREATE TABLE job (id bigint PRIMARY KEY, grp varchar(40) NOT NULL, payload varchar(100), state int NOT NULL DEFAULT 0,
                  run bigint NOT NULL DEFAULT 0, since bigint);

-- name: put tx=one begin=immediate
INSERT INTO grp (name) VALUES (:group) ON CONFLICT DO NOTHING;
INSERT INTO job (id, grp, payload) VALUES (:id, :group, :payload);

-- name: claim tx=one begin=immediate
-- require: row
SELECT job.id AS pick, job.grp AS pickgrp, job.run + 1 AS thisrun FROM job JOIN grp ON grp.name = job.grp
WHERE job.state = 0 AND grp.job IS NULL ORDER BY job.id LIMIT 1;
UPDATE grp SET job = :pick, run = :thisrun WHERE name = :pickgrp;
UPDATE job SET state = 1, run = :thisrun, since = :now WHERE id = :pick
RETURNING id, payload, run AS token, grp AS mygrp;

-- name: complete tx=one begin=immediate
-- require: row
UPDATE grp SET job = NULL WHERE name = :mygrp AND job = :id AND run = :token;
UPDATE job SET state = 2 WHERE id = :id AND state = 1 AND run = :token;

-- name: free tx=one begin=immediate commit=always when free=own
-- require: row
UPDATE grp SET job = NULL WHERE name = :mygrp AND job = :id AND run = :token;
UPDATE job SET state = 0 WHERE id = :id AND state = 1 AND run = :token;

-- name: free tx=one begin=immediate commit=always when free=name
UPDATE grp SET job = NULL WHERE name = :mygrp;
UPDATE job SET state = 0 WHERE id = :id AND state = 1 AND run = :token;

-- name: recover tx=one begin=immediate
UPDATE grp SET job = NULL WHERE job IN (SELECT id FROM job WHERE state = 1 AND since < :now - :stale_ms);
UPDATE job SET state = 0 WHERE state = 1 AND since < :now - :stale_ms;

-- name: teardown
DROP TABLE job;
DROP TABLE grp;
