-- A lane for each group, removed by the end of its last item. put=at-once adds lane and
-- item in one transaction; put=apart in two. A common mechanism. Truth expected:
-- at-once right; apart broken: the lane is removed between the two, and the item lies
-- in none.
--
-- strategy: lanes
-- shape: queue
-- claims: no-duplicate, no-loss, group-exclusive
-- option: put = at-once | apart

-- name: setup
CREATE TABLE lane (grp text PRIMARY KEY, item bigint);
CREATE TABLE job (id bigint PRIMARY KEY, class text, grp text NOT NULL, payload text);

-- name: put [sqlite] tx=one begin=immediate when put=at-once
INSERT INTO lane (grp) VALUES (:group) ON CONFLICT (grp) DO NOTHING;
INSERT INTO job (id, class, grp, payload) VALUES (:id, :class, :group, :payload);
-- name: put [sqlite] when put=apart
INSERT INTO lane (grp) VALUES (:group) ON CONFLICT (grp) DO NOTHING;
INSERT INTO job (id, class, grp, payload) VALUES (:id, :class, :group, :payload);

-- name: claim [sqlite] tx=one begin=immediate
-- require: row
SELECT job.id AS next_id, lane.grp AS lane_grp FROM lane JOIN job ON job.grp = lane.grp
WHERE job.class = :class AND lane.item IS NULL ORDER BY job.id LIMIT 1;
UPDATE lane SET item = :next_id WHERE grp = :lane_grp;
SELECT id, payload FROM job WHERE id = :next_id;

-- name: complete [sqlite] tx=one begin=immediate
-- require: row
UPDATE lane SET item = NULL WHERE item = :id;
-- answer: row
DELETE FROM job WHERE id = :id;
DELETE FROM lane WHERE item IS NULL AND NOT EXISTS (SELECT 1 FROM job WHERE job.grp = lane.grp);

-- name: teardown
DROP TABLE job;
DROP TABLE lane;
