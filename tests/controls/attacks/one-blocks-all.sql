-- A lock of any name keeps workers from all others; the view is harmless.
-- strategy: one-blocks-all
-- shape: lock
-- claims: exclusive, owner-release, progress
-- rows: shared
-- name: setup
CREATE TABLE lk (name TEXT PRIMARY KEY, owner TEXT);
CREATE VIEW free_lk AS SELECT name FROM lk WHERE owner IS NULL;
-- name: resource
INSERT INTO lk (name) VALUES (:resource);
-- name: acquire
UPDATE lk SET owner = :worker WHERE name = :resource AND NOT EXISTS (SELECT 1 FROM lk WHERE owner IS NOT NULL);
-- name: release
UPDATE lk SET owner = NULL WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP VIEW free_lk;
DROP TABLE lk;
