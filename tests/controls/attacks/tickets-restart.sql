-- Tickets are one more than the largest in line: they start again when it is empty. It is correct.
-- strategy: tickets-restart
-- shape: lock
-- claims: exclusive, owner-release, fifo, progress
-- name: setup
CREATE TABLE line (name TEXT NOT NULL, ticket INTEGER NOT NULL, worker TEXT NOT NULL, PRIMARY KEY (name, ticket));
-- name: enqueue
INSERT INTO line (name, ticket, worker) SELECT :resource, coalesce(max(ticket), 0) + 1, :worker FROM line WHERE name = :resource RETURNING ticket;
-- name: acquire
SELECT ticket FROM line WHERE name = :resource AND ticket = :ticket AND ticket = (SELECT min(ticket) FROM line WHERE name = :resource);
-- name: release
DELETE FROM line WHERE name = :resource AND ticket = :ticket AND worker = :worker;
-- name: cancel
DELETE FROM line WHERE name = :resource AND ticket = :ticket AND worker = :worker;
-- name: teardown
DROP TABLE line;
