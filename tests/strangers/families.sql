-- Jobs in families of three: the third waits until the two others have ended, which a counter says. count=added raises it
-- by one statement, in the transaction that ends the job. count=read reads it and writes it back: of two that end at one
-- time one is not counted, and the third waits for ever. due=asked compares a start that is NULL for all that were never
-- put off: nothing is ever claimed.
-- Truth expected: count=added with due=null right; count=read broken, due=asked broken: no-loss.
--
-- strategy: families
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release
-- needs: returning
-- option: count = added | read
-- option: due = null | asked

-- name: setup
CREATE TABLE family (no bigint PRIMARY KEY, ended int NOT NULL DEFAULT 0);
CREATE TABLE job (id bigint PRIMARY KEY, family_no bigint NOT NULL, is_third int NOT NULL, payload text,
    state varchar(8) NOT NULL DEFAULT 'ready', owner varchar(64), attempt int NOT NULL DEFAULT 0, not_before bigint);

-- name: put tx=one
INSERT INTO family (no) VALUES ((:id - 1) / 3) ON CONFLICT (no) DO NOTHING;
INSERT INTO job (id, family_no, is_third, payload)
VALUES (:id, (:id - 1) / 3, CASE WHEN :id % 3 = 0 THEN 1 ELSE 0 END, :payload);

-- name: claim when due=null
UPDATE job SET state = 'taken', owner = :worker, attempt = attempt + 1
WHERE id = (SELECT j.id FROM job AS j JOIN family AS f ON f.no = j.family_no
            WHERE j.state = 'ready' AND (j.not_before IS NULL OR j.not_before <= :now) AND (j.is_third = 0 OR f.ended = 2)
            ORDER BY j.id LIMIT 1)
RETURNING id, payload, attempt AS token, family_no, is_third;

-- name: claim when due=asked
UPDATE job SET state = 'taken', owner = :worker, attempt = attempt + 1
WHERE id = (SELECT j.id FROM job AS j JOIN family AS f ON f.no = j.family_no
            WHERE j.state = 'ready' AND NOT (j.not_before > :now) AND (j.is_third = 0 OR f.ended = 2)
            ORDER BY j.id LIMIT 1)
RETURNING id, payload, attempt AS token, family_no, is_third;

-- name: complete when count=added tx=one
-- require: row
UPDATE job SET state = 'done' WHERE id = :id AND state = 'taken' AND owner = :worker AND attempt = :token;
UPDATE family SET ended = ended + 1 - :is_third WHERE no = :family_no;

-- name: complete when count=read
-- require: row
UPDATE job SET state = 'done' WHERE id = :id AND state = 'taken' AND owner = :worker AND attempt = :token;
SELECT ended FROM family WHERE no = :family_no;
UPDATE family SET ended = :ended + 1 - :is_third WHERE no = :family_no;

-- name: free
UPDATE job SET state = 'ready', owner = NULL WHERE id = :id AND state = 'taken' AND owner = :worker AND attempt = :token;

-- name: teardown
DROP TABLE job;
DROP TABLE family;
