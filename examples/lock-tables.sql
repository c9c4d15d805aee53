-- A table lock of MariaDB as a mutex, for work outside of the database. It is the server's own: on a Galera
-- cluster each node has its own, and two sessions on two nodes have it at the same time. Right on one server:
--   lockbench verify -s examples/lock-tables.sql -d mariadb://...
-- and with several nodes in the URI it is violated, but not with spread=first. Do not write under it on several nodes:
-- the nodes then wait for each other without end.
-- strategy: lock-tables
-- shape: lock
-- claims: exclusive

-- name: setup [mariadb]
CREATE TABLE the_lock (name varchar(64) PRIMARY KEY);

-- name: resource [mariadb]
INSERT INTO the_lock (name) VALUES (:resource);

-- name: acquire [mariadb] session=keep
LOCK TABLES the_lock WRITE;
-- answer: row
SELECT name FROM the_lock WHERE name = :resource;

-- name: release [mariadb]
UNLOCK TABLES;

-- name: teardown [mariadb]
DROP TABLE the_lock;
