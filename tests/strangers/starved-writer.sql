-- Readers and writers in one row. writer=announced: a waiting writer keeps new readers out. writer=late: it enters when no
-- reader happens to be inside. Truth expected: announced right; late broken, as readers that overlap keep a writer out
-- for ever: progress.
--
-- strategy: starved-writer
-- shape: lock
-- claims: exclusive, progress
-- option: writer = announced | late

-- name: setup
CREATE TABLE rw (name varchar(60) PRIMARY KEY, readers int NOT NULL DEFAULT 0, writer varchar(60));
-- name: resource
INSERT INTO rw (name) VALUES (:resource);

-- name: acquire when writer=announced
UPDATE rw SET writer = :worker WHERE name = :resource AND :mode = 'exclusive' AND writer IS NULL;
UPDATE rw SET readers = readers + CASE WHEN :mode = 'shared' THEN 1 ELSE -1 END
WHERE name = :resource
  AND ((:mode = 'shared' AND writer IS NULL) OR (:mode = 'exclusive' AND writer = :worker AND readers = 0));
-- name: acquire when writer=late
UPDATE rw SET readers = readers + CASE WHEN :mode = 'shared' THEN 1 ELSE -1 END,
  writer = CASE WHEN :mode = 'shared' THEN NULL ELSE :worker END
WHERE name = :resource
  AND ((:mode = 'shared' AND readers >= 0) OR (:mode = 'exclusive' AND readers = 0));

-- name: release
UPDATE rw
SET readers = readers + CASE WHEN :mode = 'shared' THEN -1 ELSE 1 END,
    writer = CASE WHEN :mode = 'shared' THEN writer ELSE NULL END
WHERE name = :resource
  AND ((:mode = 'shared' AND readers > 0) OR (:mode = 'exclusive' AND writer = :worker AND readers = -1));

-- name: cancel
UPDATE rw SET writer = NULL WHERE name = :resource AND :mode = 'exclusive' AND writer = :worker AND readers >= 0;
-- name: teardown
DROP TABLE rw;
