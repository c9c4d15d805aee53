-- At most `most` jobs begun in any `window_ms`. take=bucket has one token, which comes back after window_ms / most
-- (a token bucket in one row; GCRA with no burst); full keeps up to `most` tokens: a full bucket and its refill are
-- nearly twice as many in one window. take=window keeps a row for each begin, and counts those of the last window_ms
-- under a row lock; counted does so without the lock: two claims do not see each other. take=reset counts in windows
-- that begin at fixed times: the end of one and the begin of the next are less than window_ms apart.
-- Truth expected: bucket, window right; full, counted, reset broken: rate.
--
-- strategy: rated
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, rate
-- option: take = window | bucket | full | counted | reset
-- option: most = 4
-- option: window_ms = 300
-- rate: most / window_ms

-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, status varchar(10) NOT NULL DEFAULT 'todo', attempt int NOT NULL DEFAULT 0,
                  payload varchar(100));
CREATE TABLE begun (job bigint NOT NULL, attempt int NOT NULL, at_ms bigint NOT NULL);
CREATE TABLE pace (tokens bigint NOT NULL, at_ms bigint NOT NULL);
INSERT INTO pace VALUES (0, 0);

-- name: put
INSERT INTO job (id, payload) VALUES (:id, :payload);

-- name: claim [sqlite] tx=one begin=immediate when take=window
-- require: row
SELECT id AS item FROM job WHERE status = 'todo' ORDER BY id LIMIT 1;
-- require: row
SELECT 1 FROM pace WHERE (SELECT count(*) FROM begun WHERE at_ms > :now - :window_ms) < :most;
INSERT INTO begun (job, attempt, at_ms) SELECT id, attempt + 1, :now FROM job WHERE id = :item;
UPDATE job SET status = 'doing', attempt = attempt + 1 WHERE id = :item RETURNING id, payload, attempt AS token;

-- name: claim [postgres] tx=one when take=window
-- require: row
SELECT id AS item FROM job WHERE status = 'todo' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
SELECT 1 AS locked FROM pace FOR UPDATE;
-- require: row
SELECT 1 AS free FROM pace WHERE (SELECT count(*) FROM begun WHERE at_ms > :now - :window_ms) < :most;
INSERT INTO begun (job, attempt, at_ms) SELECT id, attempt + 1, :now FROM job WHERE id = :item;
UPDATE job SET status = 'doing', attempt = attempt + 1 WHERE id = :item RETURNING id, payload, attempt AS token;

-- name: claim [sqlite] tx=each when take=counted
-- require: row
SELECT id AS item FROM job WHERE status = 'todo' AND (SELECT count(*) FROM begun WHERE at_ms > :now - :window_ms) < :most
ORDER BY id LIMIT 1;
INSERT INTO begun (job, attempt, at_ms) SELECT id, attempt + 1, :now FROM job WHERE id = :item;
UPDATE job SET status = 'doing', attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY id LIMIT 1) RETURNING id, payload, attempt AS token;

-- name: claim [postgres] tx=one when take=counted
-- require: row
SELECT id AS item FROM job WHERE status = 'todo' AND (SELECT count(*) FROM begun WHERE at_ms > :now - :window_ms) < :most
ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
INSERT INTO begun (job, attempt, at_ms) SELECT id, attempt + 1, :now FROM job WHERE id = :item;
UPDATE job SET status = 'doing', attempt = attempt + 1 WHERE id = :item RETURNING id, payload, attempt AS token;

-- name: claim [sqlite] tx=one begin=immediate when take=bucket
-- require: row
SELECT id AS item FROM job WHERE status = 'todo' ORDER BY id LIMIT 1;
-- require: row
UPDATE pace SET at_ms = :now + (:window_ms + :most - 1) / :most WHERE at_ms <= :now;
UPDATE job SET status = 'doing', attempt = attempt + 1 WHERE id = :item RETURNING id, payload, attempt AS token;

-- name: claim [postgres] tx=one when take=bucket
-- require: row
SELECT id AS item FROM job WHERE status = 'todo' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
-- require: row
UPDATE pace SET at_ms = :now + (:window_ms + :most - 1) / :most WHERE at_ms <= :now;
UPDATE job SET status = 'doing', attempt = attempt + 1 WHERE id = :item RETURNING id, payload, attempt AS token;

-- name: claim [sqlite] tx=one begin=immediate when take=full
-- require: row
SELECT id AS item FROM job WHERE status = 'todo' ORDER BY id LIMIT 1;
UPDATE pace SET tokens = min(:most * :window_ms, tokens + (:now - at_ms) * :most), at_ms = :now WHERE at_ms < :now;
-- require: row
UPDATE pace SET tokens = tokens - :window_ms WHERE tokens >= :window_ms;
UPDATE job SET status = 'doing', attempt = attempt + 1 WHERE id = :item RETURNING id, payload, attempt AS token;

-- name: claim [postgres] tx=one when take=full
-- require: row
SELECT id AS item FROM job WHERE status = 'todo' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE pace SET tokens = least(:most * :window_ms, tokens + (:now - at_ms) * :most), at_ms = :now WHERE at_ms < :now;
-- require: row
UPDATE pace SET tokens = tokens - :window_ms WHERE tokens >= :window_ms;
UPDATE job SET status = 'doing', attempt = attempt + 1 WHERE id = :item RETURNING id, payload, attempt AS token;

-- name: claim [sqlite] tx=one begin=immediate when take=reset
-- require: row
SELECT id AS item FROM job WHERE status = 'todo' ORDER BY id LIMIT 1;
UPDATE pace SET tokens = 0, at_ms = :now - :now % :window_ms WHERE at_ms < :now - :now % :window_ms;
-- require: row
UPDATE pace SET tokens = tokens + 1 WHERE tokens < :most;
UPDATE job SET status = 'doing', attempt = attempt + 1 WHERE id = :item RETURNING id, payload, attempt AS token;

-- name: claim [postgres] tx=one when take=reset
-- require: row
SELECT id AS item FROM job WHERE status = 'todo' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE pace SET tokens = 0, at_ms = :now - :now % :window_ms WHERE at_ms < :now - :now % :window_ms;
-- require: row
UPDATE pace SET tokens = tokens + 1 WHERE tokens < :most;
UPDATE job SET status = 'doing', attempt = attempt + 1 WHERE id = :item RETURNING id, payload, attempt AS token;

-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'doing' AND attempt = :token;

-- name: teardown
DROP TABLE job;
DROP TABLE begun;
DROP TABLE pace;
