-- Parcels that several drivers take by the armful. A parcel of a closed door is tried again later.
-- retry=one puts that parcel back; retry=mine puts back all that its driver has, while the driver goes on with the others.
-- Truth expected: one right; mine broken: no-duplicate.
--
-- strategy: returned
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release
-- option: retry = one | mine
-- option: stale_ms = 2000
-- limit: stale_ms
-- lease: none
-- precision: fine

-- name: setup [sqlite]
CREATE TABLE parcel (
    no INTEGER PRIMARY KEY, content TEXT, driver TEXT, turn INTEGER NOT NULL DEFAULT 0,
    since_ms INTEGER NOT NULL DEFAULT 0, from_ms INTEGER NOT NULL DEFAULT 0, delivered INTEGER NOT NULL DEFAULT 0
);

-- name: put [sqlite]
INSERT INTO parcel (no, content) VALUES (:id, :payload);

-- name: claim [sqlite]
UPDATE parcel SET driver = :worker, turn = turn + 1, since_ms = :now
WHERE no IN (SELECT no FROM parcel WHERE driver IS NULL AND delivered = 0 AND from_ms <= :now ORDER BY no LIMIT :n)
RETURNING no AS id, content AS payload, turn AS token;

-- name: complete [sqlite]
UPDATE parcel SET delivered = 1, driver = NULL WHERE no = :id AND driver = :worker AND turn = :token;

-- name: retry [sqlite] when retry=one
UPDATE parcel SET driver = NULL, from_ms = :now + :delay_ms WHERE no = :id AND driver = :worker AND turn = :token;

-- name: retry [sqlite] when retry=mine
UPDATE parcel SET driver = NULL, from_ms = :now + :delay_ms WHERE driver = :worker AND delivered = 0;

-- name: recover [sqlite]
UPDATE parcel SET driver = NULL WHERE driver IS NOT NULL AND since_ms < :now - :stale_ms;

-- name: teardown [sqlite]
DROP TABLE parcel;
