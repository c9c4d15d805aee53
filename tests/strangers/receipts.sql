-- A claim is a batch, and is ended as one: each item by its number and the count of its deliveries. match=pairs
-- checks both of one item; match=lists checks that the number is among the numbers, and the count among the counts. A
-- common mechanism. Truth expected: pairs right; lists broken: another item's count is taken for that of one that
-- another worker has by now.
--
-- strategy: receipts
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release
-- option: match = pairs | lists

-- name: setup
CREATE TABLE msg (id bigint PRIMARY KEY, class text, payload text, done int NOT NULL DEFAULT 0,
    delivery bigint NOT NULL DEFAULT 0, visible_ms bigint NOT NULL DEFAULT 0);

-- name: put
INSERT INTO msg (id, class, payload) VALUES (:id, :class, :payload);

-- name: claim [sqlite]
UPDATE msg SET delivery = delivery + 1, visible_ms = :now + :ttl_ms
WHERE id IN (SELECT id FROM msg WHERE class = :class AND done = 0 AND visible_ms <= :now ORDER BY id LIMIT :n)
RETURNING id, payload, delivery AS token;

-- name: complete [sqlite] when match=pairs
UPDATE msg SET done = 1
WHERE done = 0 AND EXISTS (SELECT 1 FROM json_each(:items) AS mine
    WHERE json_extract(mine.value, '$.id') = msg.id AND json_extract(mine.value, '$.token') = msg.delivery)
RETURNING id;
-- name: complete [sqlite] when match=lists
UPDATE msg SET done = 1
WHERE done = 0 AND id IN (SELECT value FROM json_each(:ids)) AND delivery IN (SELECT value FROM json_each(:tokens))
RETURNING id;

-- name: teardown
DROP TABLE msg;
