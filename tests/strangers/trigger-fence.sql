-- A fence that a trigger raises. of=taking raises it each time the lock is taken; of=name when the holder's name changes, so
-- that a worker whose lease has ended is granted the lock again with the token of before.
-- Truth expected: taking right; name broken: fenced.
--
-- strategy: trigger-fence
-- shape: lock
-- claims: exclusive, owner-release, fenced
-- option: ttl_ms = 20000
-- option: of = taking | name
-- lease: ttl_ms
-- rows: shared

-- name: setup when of=taking
CREATE TABLE owner (shard TEXT PRIMARY KEY, node TEXT, until REAL NOT NULL DEFAULT 0, taken INTEGER NOT NULL DEFAULT 0,
                    fence INTEGER NOT NULL DEFAULT 0);
CREATE TRIGGER raise_fence AFTER UPDATE OF taken ON owner BEGIN
    UPDATE owner SET fence = fence + 1 WHERE shard = NEW.shard;
END;

-- name: setup when of=name
CREATE TABLE owner (shard TEXT PRIMARY KEY, node TEXT, until REAL NOT NULL DEFAULT 0, taken INTEGER NOT NULL DEFAULT 0,
                    fence INTEGER NOT NULL DEFAULT 0);
CREATE TRIGGER raise_fence AFTER UPDATE OF node ON owner WHEN NEW.node IS NOT OLD.node BEGIN
    UPDATE owner SET fence = fence + 1 WHERE shard = NEW.shard;
END;

-- name: resource
INSERT INTO owner (shard) VALUES (:resource);

-- name: acquire tx=one begin=immediate
-- require: row
UPDATE owner SET node = :worker, taken = taken + 1, until = julianday('now') + :ttl_ms / 86400000.0
WHERE shard = :resource AND (node IS NULL OR until <= julianday('now'))
RETURNING shard AS mine;
SELECT fence AS token FROM owner WHERE shard = :resource;

-- name: release
UPDATE owner SET node = NULL WHERE shard = :resource AND node = :worker AND fence = :token AND until > julianday('now');

-- name: teardown
DROP TABLE owner;
