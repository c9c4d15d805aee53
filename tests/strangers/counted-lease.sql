-- Jobs with a lease. A claim takes a job if fewer than two of its key are taken by leases that go on: it counts by time, and
-- compares the count with a number.
-- Truth expected: right.
--
-- strategy: counted-lease
-- shape: queue
-- claims: no-duplicate, key-limit, owner-release
-- key-limit: 2
-- option: lease_ms = 60000
-- lease: lease_ms

-- name: setup
CREATE TABLE job (id INTEGER PRIMARY KEY, k TEXT NOT NULL, payload TEXT, state TEXT NOT NULL DEFAULT 'ready',
                  run INTEGER NOT NULL DEFAULT 0, ends REAL NOT NULL DEFAULT 0);

-- name: put
INSERT INTO job (id, k, payload) VALUES (:id, :key, :payload);

-- name: claim tx=one begin=immediate
UPDATE job SET state = 'taken', run = run + 1, ends = julianday('now') + :lease_ms / 86400000.0
WHERE id = (SELECT id FROM job AS j WHERE (state = 'ready' OR (state = 'taken' AND ends <= julianday('now')))
            AND (SELECT count(*) FROM job AS o WHERE o.k = j.k AND o.id <> j.id AND o.state = 'taken' AND o.ends > julianday('now')) < 2
            ORDER BY id LIMIT 1)
RETURNING id, payload, run AS token;

-- name: complete
UPDATE job SET state = 'done' WHERE id = :id AND run = :token AND state = 'taken';

-- name: free
UPDATE job SET state = 'ready' WHERE id = :id AND run = :token AND state = 'taken';

-- name: teardown
DROP TABLE job;
