-- A claim that takes the most urgent item. lock=one locks that item; lock=six locks six and takes one of them, so that a
-- claim at the same time skips the others.
-- Truth expected: one right; six broken: priority.
--
-- strategy: window
-- shape: queue
-- claims: no-duplicate, priority
-- priority: highest-first
-- isolation: read committed
-- needs: skip_locked
-- option: lock = one | six

-- name: setup
CREATE TABLE work (id bigint PRIMARY KEY, urgency integer NOT NULL, payload text, taken boolean NOT NULL DEFAULT false);

-- name: put
INSERT INTO work (id, urgency, payload) VALUES (:id, :priority, :payload);

-- name: claim when lock=one
WITH best AS MATERIALIZED (
    SELECT id FROM work WHERE NOT taken ORDER BY urgency DESC, id LIMIT 1 FOR UPDATE SKIP LOCKED
)
UPDATE work SET taken = true WHERE id = (SELECT id FROM best) RETURNING id, payload;

-- name: claim when lock=six
WITH best AS MATERIALIZED (
    SELECT id, urgency FROM work WHERE NOT taken ORDER BY urgency DESC, id LIMIT 6 FOR UPDATE SKIP LOCKED
)
UPDATE work SET taken = true WHERE id = (SELECT id FROM best ORDER BY urgency DESC, id LIMIT 1) RETURNING id, payload;

-- name: complete
DELETE FROM work WHERE id = :id;

-- name: teardown
DROP TABLE work;
