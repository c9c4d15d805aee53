-- A group's items are done one at a time: none is taken while another of its group is in hand. take=first takes the first
-- of each group; take=many takes all free items, so that one claim may have two of a group. A common mechanism. Truth
-- expected: first right; many broken, with claims of several items.
--
-- strategy: group-take
-- shape: queue
-- claims: no-duplicate, no-loss, group-exclusive
-- option: take = first | many

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, class text, grp text NOT NULL, payload text, state int NOT NULL DEFAULT 0);

-- name: put
INSERT INTO job (id, class, grp, payload) VALUES (:id, :class, :group, :payload);

-- name: claim [sqlite] when take=first
UPDATE job SET state = 1
WHERE id IN (SELECT min(w.id) FROM job AS w WHERE w.class = :class AND w.state = 0
    AND NOT EXISTS (SELECT 1 FROM job AS b WHERE b.grp = w.grp AND b.state = 1) GROUP BY w.grp LIMIT :n)
RETURNING id, payload;
-- name: claim [sqlite] when take=many
UPDATE job SET state = 1
WHERE id IN (SELECT w.id FROM job AS w WHERE w.class = :class AND w.state = 0
    AND NOT EXISTS (SELECT 1 FROM job AS b WHERE b.grp = w.grp AND b.state = 1) ORDER BY w.id LIMIT :n)
RETURNING id, payload;

-- name: complete
UPDATE job SET state = 2 WHERE id = :id AND state = 1;

-- name: teardown
DROP TABLE job;
