-- A readers/writer lock in one row: many readers or one writer, waiting writers go first.
--
-- `readers` counts those inside; `writer` names the one that is inside or wants in. A writer first
-- puts up its name, which keeps new readers out, and is granted when the last reader has left; a
-- writer that gives up takes its name down again (cancel).
--
--   lockbench verify -s ./examples/readers-writer.sql -S readers-writers -d sqlite: -d postgresql://...
--
-- strategy: readers-writer
-- shape: lock
-- summary: readers counted, writer named, in one row
-- origin: the second readers-writers problem (Courtois, Heymans and Parnas, 1971)
-- claims: exclusive

-- name: setup
CREATE TABLE rwlock (
    name varchar(64) PRIMARY KEY,
    readers int NOT NULL DEFAULT 0,
    writer varchar(64)
);

-- name: resource
INSERT INTO rwlock (name) VALUES (:resource);

-- The first statement puts up a writer's name; the second one checks that no other holder is in the
-- way.
-- name: acquire
UPDATE rwlock SET writer = :worker
WHERE name = :resource AND :mode = 'exclusive' AND writer IS NULL;
UPDATE rwlock
SET readers = readers + CASE WHEN :mode = 'shared' THEN 1 ELSE -1 END
WHERE name = :resource
  AND ((:mode = 'shared' AND writer IS NULL)
       OR (:mode = 'exclusive' AND writer = :worker AND readers = 0));

-- With a writer inside `readers` is -1, so that it is never taken for free.
-- name: release
UPDATE rwlock
SET readers = readers + CASE WHEN :mode = 'shared' THEN -1 ELSE 1 END,
    writer = CASE WHEN :mode = 'shared' THEN writer ELSE NULL END
WHERE name = :resource
  AND ((:mode = 'shared' AND readers > 0)
       OR (:mode = 'exclusive' AND writer = :worker AND readers = -1));

-- name: cancel
UPDATE rwlock SET writer = NULL
WHERE name = :resource AND :mode = 'exclusive' AND writer = :worker AND readers >= 0;

-- name: teardown
DROP TABLE rwlock;
