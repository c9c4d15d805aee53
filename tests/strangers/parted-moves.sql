-- Work moves between two tables: the waiting items, and the items in hand. A worker may be lost between two commits.
-- Truth expected: right where each move is one transaction; claim=parted and free=parted are two commits, and an
-- item in between is in neither table: no-loss broken.
--
-- strategy: parted-moves
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, recovery
-- option: claim = whole | parted
-- option: free = whole | parted
-- option: stale_ms = 60000 (age at which recover gives work back)

-- name: setup
CREATE TABLE waits (id bigint PRIMARY KEY, payload text);
CREATE TABLE works (id bigint PRIMARY KEY, payload text, worker varchar(100) NOT NULL, since_ms bigint NOT NULL);

-- name: put
INSERT INTO waits (id, payload) VALUES (:id, :payload);

-- name: claim [sqlite] tx=one begin=immediate when claim=whole
-- require: row
DELETE FROM waits WHERE id = (SELECT min(id) FROM waits) RETURNING id, payload;
INSERT INTO works (id, payload, worker, since_ms) VALUES (:id, :payload, :worker, :now) RETURNING id, payload;
-- name: claim [sqlite] when claim=parted
-- require: row
DELETE FROM waits WHERE id = (SELECT min(id) FROM waits) RETURNING id, payload;
INSERT INTO works (id, payload, worker, since_ms) VALUES (:id, :payload, :worker, :now) RETURNING id, payload;
-- name: claim [postgres] tx=one when claim=whole
-- require: row
DELETE FROM waits WHERE id = (SELECT id FROM waits ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, payload;
INSERT INTO works (id, payload, worker, since_ms) VALUES (:id, :payload, :worker, :now) RETURNING id, payload;
-- name: claim [postgres] when claim=parted
-- require: row
DELETE FROM waits WHERE id = (SELECT id FROM waits ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, payload;
INSERT INTO works (id, payload, worker, since_ms) VALUES (:id, :payload, :worker, :now) RETURNING id, payload;

-- name: complete
DELETE FROM works WHERE id = :id AND worker = :worker;

-- name: free [sqlite] tx=one begin=immediate when free=whole
-- require: row
DELETE FROM works WHERE id = :id AND worker = :worker RETURNING payload;
INSERT INTO waits (id, payload) VALUES (:id, :payload);
-- name: free [postgres] tx=one when free=whole
-- require: row
DELETE FROM works WHERE id = :id AND worker = :worker RETURNING payload;
INSERT INTO waits (id, payload) VALUES (:id, :payload);
-- name: free when free=parted
-- require: row
DELETE FROM works WHERE id = :id AND worker = :worker RETURNING payload;
INSERT INTO waits (id, payload) VALUES (:id, :payload);

-- name: recover [sqlite] tx=one begin=immediate
INSERT INTO waits (id, payload) SELECT id, payload FROM works WHERE since_ms < :now - :stale_ms;
DELETE FROM works WHERE since_ms < :now - :stale_ms;
-- name: recover [postgres]
WITH gone AS (DELETE FROM works WHERE since_ms < :now - :stale_ms RETURNING id, payload)
INSERT INTO waits (id, payload) SELECT id, payload FROM gone;

-- name: teardown
DROP TABLE waits;
DROP TABLE works;
