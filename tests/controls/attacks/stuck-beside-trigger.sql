-- The release frees nothing; the trigger is harmless.
-- strategy: stuck-beside-trigger
-- shape: lock
-- claims: exclusive, progress
-- rows: shared
-- name: setup
CREATE TABLE lk (name TEXT PRIMARY KEY, owner TEXT);
CREATE TABLE audit (n INTEGER PRIMARY KEY, name TEXT, owner TEXT);
CREATE TRIGGER lk_audit AFTER UPDATE OF owner ON lk WHEN NEW.owner IS NOT NULL BEGIN INSERT INTO audit (name, owner) VALUES (NEW.name, NEW.owner); END;
-- name: resource
INSERT INTO lk (name) VALUES (:resource);
-- name: acquire
UPDATE lk SET owner = :worker WHERE name = :resource AND owner IS NULL;
-- name: release
UPDATE lk SET owner = 'free' WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP TABLE lk;
DROP TABLE audit;
