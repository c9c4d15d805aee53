-- The order among tenants. take=turns goes round the tenants: each claim asks for the oldest job of every tenant (a lateral
-- join) and takes that of the tenant that was served the longest time ago, as pgbus #426 and postel #126 ask for.
-- take=oldest is plain arrival order: a tenant that puts 10,000 jobs keeps all others waiting. take=aged uses the
-- priority, which grows by one for each second of waiting, so that nothing waits for ever. take=named serves one tenant
-- after the other. Truth expected: turns right; oldest, aged, named broken: share.
--
-- strategy: tenants
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, share
-- option: take = turns | oldest | aged | named
-- option: part = 0.5
-- share: part

-- name: setup
CREATE TABLE tenant (name varchar(20) PRIMARY KEY, served bigint NOT NULL DEFAULT 0);
CREATE TABLE job (id bigint PRIMARY KEY, tenant varchar(20) NOT NULL, priority int NOT NULL, put_ms bigint NOT NULL,
                  status varchar(10) NOT NULL DEFAULT 'todo', attempt int NOT NULL DEFAULT 0, payload varchar(100));
CREATE INDEX job_next ON job (tenant, id) WHERE status = 'todo';

-- name: put tx=one
INSERT INTO tenant (name) VALUES (:tenant) ON CONFLICT DO NOTHING;
INSERT INTO job (id, tenant, priority, put_ms, payload) VALUES (:id, :tenant, :priority, :now, :payload);

-- name: claim [sqlite] tx=one begin=immediate when take=turns
-- require: row
SELECT j.id AS item, t.name AS whose FROM tenant AS t
JOIN job AS j ON j.id = (SELECT min(id) FROM job WHERE tenant = t.name AND status = 'todo')
ORDER BY t.served, j.id LIMIT 1;
UPDATE tenant SET served = 1 + (SELECT max(served) FROM tenant) WHERE name = :whose;
UPDATE job SET status = 'doing', attempt = attempt + 1 WHERE id = :item RETURNING id, payload, attempt AS token;

-- name: claim [postgres] tx=one when take=turns
-- require: row
SELECT j.id AS item, t.name AS whose FROM tenant AS t
CROSS JOIN LATERAL (SELECT id FROM job WHERE tenant = t.name AND status = 'todo'
                    ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) AS j
ORDER BY t.served, j.id LIMIT 1;
UPDATE tenant SET served = 1 + (SELECT max(served) FROM tenant) WHERE name = :whose;
UPDATE job SET status = 'doing', attempt = attempt + 1 WHERE id = :item RETURNING id, payload, attempt AS token;

-- name: claim [sqlite] when take=oldest
UPDATE job SET status = 'doing', attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY id LIMIT 1)
RETURNING id, payload, attempt AS token;

-- name: claim [postgres] when take=oldest
UPDATE job SET status = 'doing', attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload, attempt AS token;

-- name: claim [sqlite] when take=aged
UPDATE job SET status = 'doing', attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY priority * 1000 + :now - put_ms DESC, id LIMIT 1)
RETURNING id, payload, attempt AS token;

-- name: claim [postgres] when take=aged
UPDATE job SET status = 'doing', attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY priority * 1000 + :now - put_ms DESC, id
            LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload, attempt AS token;

-- name: claim [sqlite] when take=named
UPDATE job SET status = 'doing', attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY tenant, id LIMIT 1)
RETURNING id, payload, attempt AS token;

-- name: claim [postgres] when take=named
UPDATE job SET status = 'doing', attempt = attempt + 1
WHERE id = (SELECT id FROM job WHERE status = 'todo' ORDER BY tenant, id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload, attempt AS token;

-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'doing' AND attempt = :token;

-- name: teardown
DROP TABLE job;
DROP TABLE tenant;
