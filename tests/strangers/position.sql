-- Consumers share a position, as in a log: items behind it have been read. back=again lets a claim look for items
-- given back, at any place: right. back=behind gives it back behind the position, where no claim looks any more.
-- Truth expected: again right; behind broken: no-loss.
--
-- strategy: position
-- shape: queue
-- claims: no-duplicate, no-loss
-- option: back = again | behind

-- name: setup
CREATE TABLE reader (name varchar(20) PRIMARY KEY, position bigint NOT NULL);
CREATE TABLE entry (id bigint PRIMARY KEY, body text, state int NOT NULL DEFAULT 0);
INSERT INTO reader VALUES ('all', -1);

-- name: put
INSERT INTO entry (id, body) VALUES (:id, :payload);

-- name: claim tx=one begin=immediate when back=behind
-- require: row
UPDATE reader SET position = position WHERE name = 'all';
-- require: row
SELECT id, body AS payload FROM entry
WHERE id > (SELECT position FROM reader WHERE name = 'all') AND state = 0 ORDER BY id LIMIT 1;
UPDATE entry SET state = 1 WHERE id = :id;
UPDATE reader SET position = :id WHERE name = 'all';
SELECT :id AS id, :payload AS payload;

-- name: claim tx=one begin=immediate when back=again
-- require: row
UPDATE reader SET position = position WHERE name = 'all';
-- require: row
SELECT id, body AS payload FROM entry WHERE state = 0 ORDER BY id LIMIT 1;
UPDATE entry SET state = 1 WHERE id = :id;
SELECT :id AS id, :payload AS payload;

-- name: complete
UPDATE entry SET state = 2 WHERE id = :id AND state = 1;

-- name: free
UPDATE entry SET state = 0 WHERE id = :id AND state = 1;

-- name: teardown
DROP TABLE entry;
DROP TABLE reader;
