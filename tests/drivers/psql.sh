#!/bin/sh
# psql: simple statements, variables, PREPARE, errors, \copy, notifications, a wrong password.
psql -XAtq -v ON_ERROR_STOP=0 2>&1 <<'SQL' | sed 's/PID [0-9]*/PID/'
DROP TABLE IF EXISTS p;
CREATE TABLE p (id int PRIMARY KEY, what text);
INSERT INTO p SELECT i, 'row ' || i FROM generate_series(1, 1000) i;
\copy p TO '/dev/null'
\copy (SELECT * FROM p WHERE id < 4) TO STDOUT
PREPARE one (int) AS SELECT what FROM p WHERE id = $1;
EXECUTE one (3);
INSERT INTO p VALUES (1, 'again');
BEGIN;
SELECT count(*) FROM p;
SELECT nothing FROM nowhere;
SELECT 1;
ROLLBACK;
LISTEN here;
NOTIFY here, 'payload';
SELECT 'end', current_setting('server_version_num')::int > 0;
DO $$ BEGIN RAISE NOTICE 'a notice'; END $$;
SQL
psql -XAtq -c 'SELECT 1; SELECT 2' -c 'SELECT 3'
printf '5001\tin\n' | psql -XAtq -c '\copy p FROM STDIN' -c 'SELECT max(id) FROM p'
