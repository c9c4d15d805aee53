-- Tickets by urgency. A claim reads the highest level that waits, and takes a ticket of that level. If another claim was
-- faster, fall=urgent takes the most urgent ticket that is left, fall=oldest the oldest.
-- Truth expected: urgent right; oldest broken: priority.
--
-- strategy: fallback-claim
-- shape: queue
-- claims: priority, no-duplicate
-- priority: highest-first
-- option: fall = urgent | oldest

-- name: setup
CREATE TABLE ticket (id INTEGER PRIMARY KEY, desk TEXT NOT NULL, urgency INTEGER NOT NULL, note TEXT, taken_by TEXT,
                     done INTEGER NOT NULL DEFAULT 0);

-- name: put
INSERT INTO ticket (id, desk, urgency, note) VALUES (:id, :class, :priority, :payload);

-- name: claim when fall=urgent
-- require: row
SELECT urgency AS level FROM ticket WHERE desk = :class AND taken_by IS NULL ORDER BY urgency DESC LIMIT 1;
UPDATE ticket SET taken_by = :worker
WHERE id = (SELECT id FROM ticket WHERE desk = :class AND taken_by IS NULL AND urgency >= :level ORDER BY urgency DESC, id LIMIT 1)
RETURNING id, note AS payload;
-- else
UPDATE ticket SET taken_by = :worker
WHERE id = (SELECT id FROM ticket WHERE desk = :class AND taken_by IS NULL ORDER BY urgency DESC, id LIMIT 1)
RETURNING id, note AS payload;

-- name: claim when fall=oldest
-- require: row
SELECT urgency AS level FROM ticket WHERE desk = :class AND taken_by IS NULL ORDER BY urgency DESC LIMIT 1;
UPDATE ticket SET taken_by = :worker
WHERE id = (SELECT id FROM ticket WHERE desk = :class AND taken_by IS NULL AND urgency >= :level ORDER BY urgency DESC, id LIMIT 1)
RETURNING id, note AS payload;
-- else
UPDATE ticket SET taken_by = :worker
WHERE id = (SELECT id FROM ticket WHERE desk = :class AND taken_by IS NULL ORDER BY id LIMIT 1)
RETURNING id, note AS payload;

-- name: complete
UPDATE ticket SET done = 1 WHERE id = :id AND taken_by = :worker AND done = 0;

-- name: teardown
DROP TABLE ticket;
