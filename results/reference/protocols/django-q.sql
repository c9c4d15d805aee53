-- A task has the time at which it was last taken; it is free a timeout later. Who takes it writes the time:
-- guard=cas only if the old one is still there, guard=none whatever is there by now. It is acknowledged under the
-- time taken.
-- After Django-Q's ORM broker (its acknowledge asks for the number alone). Client's clock, as there. The statements
-- are ours: no code of the library was run, and no version of it is claimed.
-- Expected: none broken: two read the same task, both write: no-duplicate. cas right.
--
-- strategy: django-q
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, recovery
-- option: guard = none | cas

-- name: setup
CREATE TABLE ormq (
    id bigint PRIMARY KEY,
    name varchar(64) NOT NULL,
    payload text,
    taken_at bigint NOT NULL DEFAULT 0
);

-- name: put
INSERT INTO ormq (id, name, payload) VALUES (:id, :class, :payload);

-- name: claim when guard=none
-- require: row
SELECT id, taken_at AS seen, taken_at - taken_at + :now AS stamp
FROM ormq
WHERE name = :class AND taken_at + :ttl_ms < :now
ORDER BY id
LIMIT 1;
-- require: row
UPDATE ormq SET taken_at = :stamp WHERE id = :id;
SELECT id, payload, taken_at AS token FROM ormq WHERE id = :id;

-- name: claim when guard=cas
-- require: row
SELECT id, taken_at AS seen, taken_at - taken_at + :now AS stamp
FROM ormq
WHERE name = :class AND taken_at + :ttl_ms < :now
ORDER BY id
LIMIT 1;
-- require: row
UPDATE ormq SET taken_at = :stamp WHERE id = :id AND taken_at = :seen;
SELECT id, payload, taken_at AS token FROM ormq WHERE id = :id AND taken_at = :stamp;

-- name: complete
DELETE FROM ormq WHERE id = :id AND taken_at = :token;

-- name: teardown
DROP TABLE ormq;
