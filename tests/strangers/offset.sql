-- A consumer that remembers a position. next=state takes what is ready; next=mark what is behind the last number, and
-- never finds an item that commits later with a smaller one. Truth expected: state right; mark broken: no-loss.
--
-- strategy: offset
-- shape: queue
-- claims: no-duplicate, no-loss
-- option: next = state | mark
-- name: setup
CREATE TABLE mark (last bigint NOT NULL);
INSERT INTO mark (last) VALUES (0);
CREATE TABLE job (id bigint PRIMARY KEY, payload text, state int NOT NULL DEFAULT 0);
-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);
-- name: claim [sqlite] when next=state
UPDATE job SET state = 1 WHERE id = (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT 1) RETURNING id, payload;
-- name: claim [postgres] when next=state
UPDATE job SET state = 1 WHERE id = (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, payload;
-- name: claim when next=mark tx=one
-- require: row
UPDATE mark SET last = (SELECT min(id) FROM job WHERE id > last) WHERE EXISTS (SELECT 1 FROM job WHERE id > last) RETURNING last AS pick;
SELECT id, payload FROM job WHERE id = :pick;
-- name: complete
UPDATE job SET state = 2 WHERE id = :id AND state < 2;
-- name: teardown
DROP TABLE job; DROP TABLE mark;
