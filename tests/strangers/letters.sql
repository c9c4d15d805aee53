-- One letter says what the lock is: H held, h handed back. letters=apart distinguishes them; letters=alike has a collation that
-- ignores the case, so a held lock counts as handed back. A common mechanism. Truth expected: apart right; alike broken:
-- exclusive.
--
-- strategy: letters
-- shape: lock
-- claims: exclusive, fenced, owner-release
-- option: letters = apart | alike

-- name: setup [sqlite] when letters=apart
CREATE TABLE held (
    name   varchar(60) PRIMARY KEY,
    state  char(1) NOT NULL DEFAULT 'h',
    owner  varchar(60),
    fence  bigint NOT NULL DEFAULT 0
);
-- name: setup [sqlite] when letters=alike
CREATE TABLE held (
    name   varchar(60) PRIMARY KEY,
    state  char(1) COLLATE NOCASE NOT NULL DEFAULT 'h',
    owner  varchar(60),
    fence  bigint NOT NULL DEFAULT 0
);

-- name: resource
INSERT INTO held (name) VALUES (:resource);

-- name: acquire
UPDATE held SET state = 'H', owner = :worker, fence = fence + 1
WHERE name = :resource AND state = 'h' RETURNING fence AS token;

-- name: release
UPDATE held SET state = 'h', owner = NULL WHERE name = :resource AND state = 'H' AND owner = :worker AND fence = :token;

-- name: teardown
DROP TABLE held;
