-- A claim takes an item and its group, both for a lease. end=number: any end of an item opens its group.
-- Truth expected: end=own right; end=number broken: a slow worker opens the group that the next one works in:
-- group-exclusive.
--
-- strategy: group-lease
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, group-exclusive
-- option: end = own | number
-- option: lease_ms = 60000
-- lease: lease_ms

-- name: setup [sqlite]
CREATE TABLE work (
    id INTEGER PRIMARY KEY,
    class TEXT NOT NULL,
    area TEXT NOT NULL,
    until_ms INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 0,
    payload TEXT
);
CREATE TABLE area (name TEXT PRIMARY KEY, item INTEGER, until_ms INTEGER NOT NULL DEFAULT 0);

-- name: put [sqlite] tx=one
INSERT INTO area (name) VALUES (:group) ON CONFLICT DO NOTHING;
INSERT INTO work (id, class, area, payload) VALUES (:id, :class, :group, :payload);

-- name: claim [sqlite] tx=one begin=immediate
-- require: row
SELECT w.id AS item, w.area FROM work AS w JOIN area AS a ON a.name = w.area
WHERE w.class = :class AND w.until_ms < :now AND a.until_ms < :now
ORDER BY w.id LIMIT 1;
UPDATE area SET item = :item, until_ms = :now + :lease_ms WHERE name = :area;
UPDATE work SET until_ms = :now + :lease_ms, attempt = attempt + 1 WHERE id = :item
RETURNING id, payload, attempt AS token;

-- name: complete [sqlite] tx=one begin=immediate when end=own
-- require: row
DELETE FROM work WHERE id = :id AND attempt = :token;
-- answer: row
SELECT 1 AS ended;
UPDATE area SET item = NULL, until_ms = 0 WHERE item = :id;

-- name: complete [sqlite] tx=one begin=immediate commit=always when end=number
UPDATE area SET item = NULL, until_ms = 0 WHERE name = (SELECT area FROM work WHERE id = :id);
DELETE FROM work WHERE id = :id AND attempt = :token;

-- name: teardown [sqlite]
DROP TABLE work;
DROP TABLE area;
