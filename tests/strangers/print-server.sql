-- Jobs wait for their printer, and each printer counts the jobs in hand: two at most. free=twice takes lost jobs off the count, and
-- makes them waiting by another commit: a job that ends in between is taken off twice. idle=any takes a job off also if it was
-- not being printed. take=read writes a count that it has read.
-- Truth expected: take=add with free=once and idle=printing right; each other one broken: key-limit.
--
-- strategy: print-server
-- shape: queue
-- claims: no-duplicate, key-limit, owner-release
-- key-limit: 2
-- lease: none
-- option: lost_ms = 120000
-- option: free = once | twice
-- option: idle = printing | any
-- option: take = add | read
-- limit: lost_ms

-- name: setup
CREATE TABLE printer (name TEXT PRIMARY KEY, busy INTEGER NOT NULL DEFAULT 0);
CREATE TABLE print_job (id INTEGER PRIMARY KEY, printer TEXT NOT NULL, payload TEXT, status TEXT NOT NULL DEFAULT 'waiting',
                        run INTEGER NOT NULL DEFAULT 0, started REAL);

-- name: put tx=one begin=immediate
INSERT INTO printer (name) VALUES (:key) ON CONFLICT DO NOTHING;
INSERT INTO print_job (id, printer, payload) VALUES (:id, :key, :payload);

-- name: claim tx=one begin=immediate when take=add
-- require: row
SELECT id AS picked, printer AS at_printer FROM print_job JOIN printer ON printer.name = print_job.printer
WHERE status = 'waiting' AND busy < 2 ORDER BY id LIMIT 1;
UPDATE printer SET busy = busy + 1 WHERE name = :at_printer;
UPDATE print_job SET status = 'printing', run = run + 1, started = julianday('now') WHERE id = :picked
RETURNING id, payload, run AS token;

-- name: claim when take=read
-- require: row
SELECT id AS picked, printer AS at_printer, busy AS was_busy FROM print_job JOIN printer ON printer.name = print_job.printer
WHERE status = 'waiting' AND busy < 2 ORDER BY id LIMIT 1;
-- answer: row
-- require: row
UPDATE print_job SET status = 'printing', run = run + 1, started = julianday('now') WHERE id = :picked AND status = 'waiting'
RETURNING id, payload, run AS token;
UPDATE printer SET busy = :was_busy + 1 WHERE name = :at_printer;

-- name: complete tx=one begin=immediate
-- require: row
UPDATE print_job SET status = 'printed' WHERE id = :id AND status = 'printing' AND run = :token;
UPDATE printer SET busy = busy - 1 WHERE name = (SELECT printer FROM print_job WHERE id = :id);

-- name: error tx=one begin=immediate
-- require: row
UPDATE print_job SET status = 'failed' WHERE id = :id AND status = 'printing' AND run = :token;
UPDATE printer SET busy = busy - 1 WHERE name = (SELECT printer FROM print_job WHERE id = :id);

-- name: free tx=one begin=immediate
-- require: row
UPDATE print_job SET status = 'waiting' WHERE id = :id AND status = 'printing' AND run = :token;
UPDATE printer SET busy = busy - 1 WHERE name = (SELECT printer FROM print_job WHERE id = :id);

-- name: clear-error tx=one begin=immediate when idle=printing
UPDATE print_job SET status = 'waiting' WHERE id = :id AND status = 'failed';

-- name: clear-error tx=one begin=immediate when idle=any
-- require: row
UPDATE print_job SET status = 'waiting' WHERE id = :id AND status = 'failed';
UPDATE printer SET busy = busy - 1 WHERE name = (SELECT printer FROM print_job WHERE id = :id);

-- name: recover tx=one begin=immediate when free=once
UPDATE printer SET busy = busy - (SELECT count(*) FROM print_job WHERE printer = name AND status = 'printing'
                                  AND started < julianday('now') - :lost_ms / 86400000.0);
UPDATE print_job SET status = 'waiting' WHERE status = 'printing' AND started < julianday('now') - :lost_ms / 86400000.0;

-- name: recover when free=twice
UPDATE printer SET busy = busy - (SELECT count(*) FROM print_job WHERE printer = name AND status = 'printing'
                                  AND started < julianday('now') - :lost_ms / 86400000.0);
UPDATE print_job SET status = 'waiting' WHERE status = 'printing' AND started < julianday('now') - :lost_ms / 86400000.0;

-- name: teardown
DROP TABLE print_job;
DROP TABLE printer;
