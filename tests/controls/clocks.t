#!/usr/bin/env perl
# Steps of the clock, and a clock that stands still, move or stop each word for the time, in statements and in defaults of columns; and
# where some statement may ask for another clock, that is said. On SQLite always, on the servers in LB_TEST_URIS as far as they are there.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my %engine = engine_uris();

# (status, result, stderr)
sub explore
{
    my ($engine, $strategy, @args) = @_;
    return explored($engine{$engine}, $strategy, @args);
}

# A step of the clock moves every function for the time. Until then no worker gets the item a second
# time; then the first one ends the second one's claim.
my @clocks = (
    ['sqlite', 'text', 'CURRENT_TIMESTAMP', "datetime('now', '+600 seconds')"],
    ['sqlite', 'real', "julianday('now')", "julianday('now') + 600 / 86400.0"],
    ['sqlite', 'int',  'unixepoch()', "CAST(strftime('%s', 'now') AS int) + 600"],
    ['sqlite', 'text', "datetime('now')", "datetime(CURRENT_TIMESTAMP, '+600 seconds')"],
    (map { ['postgres', 'timestamptz', $_, "$_ + interval '600 s'"] }
        qw(CURRENT_TIMESTAMP now() clock_timestamp() statement_timestamp() transaction_timestamp())),
    ['postgres', 'timestamp', 'LOCALTIMESTAMP', "LOCALTIMESTAMP + interval '600 s'"],
    (map { ['mariadb', 'datetime(6)', $_, "$_ + INTERVAL 600 SECOND"] }
        qw(NOW(6) SYSDATE(6) CURRENT_TIMESTAMP(6) UTC_TIMESTAMP(6))),
);
for my $case (@clocks) {
    my ($engine, $type, $now, $later) = @$case;
    my $lock = $engine eq 'sqlite' ? '' : 'FOR UPDATE';
    SKIP: {
        skip "no $engine server", 2 unless defined $engine{$engine};
        my $file = spew('by-clock.sql', <<"SQL");
-- strategy: by-clock
-- shape: queue
-- claims: owner-release
-- lease: fixed
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, until $type);
-- name: put
INSERT INTO item VALUES (:id, NULL);
-- name: claim tx=one
-- answer: row
SELECT id FROM item WHERE until IS NULL OR until <= $now ORDER BY id LIMIT 1 $lock;
UPDATE item SET until = $later WHERE id = :id;
-- name: complete
DELETE FROM item WHERE id = :id;
-- name: teardown
DROP TABLE item;
SQL
        is((explore($engine, $file, '--items', '1'))[0], 5, "$now on $engine: no lease ends while the clock stands");
        my (undef, $found) = explore($engine, $file, '--items', '1', '--steps', 'clock');
        is $found->{verdicts}{'owner-release'}, 'violated', "$now on $engine: a step of the clock moves it";
    }
}

# The time that a default of a column stores is by the same clock: it equals the time of a clock that
# stands still, and moves with the clock's step.
my @defaults = (
    ['sqlite', 'real', "(julianday('now'))", "julianday('now')", '+ 600 / 86400.0'],
    (map { ['postgres', 'timestamptz', $_, 'clock_timestamp()', "+ interval '600 s'"] } qw(CURRENT_TIMESTAMP now() clock_timestamp())),
    ['postgres', 'timestamp', 'LOCALTIMESTAMP', 'LOCALTIMESTAMP', "+ interval '600 s'"],
    (map { ['mariadb', 'datetime(6)', $_, 'SYSDATE(6)', '+ INTERVAL 600 SECOND'] } qw(NOW(6) SYSDATE(6) CURRENT_TIMESTAMP(6))),
);
for my $case (@defaults) {
    my ($engine, $type, $default, $now, $later) = @$case;
    my $lock = $engine eq 'sqlite' ? '' : 'FOR UPDATE';
    SKIP: {
        skip "no $engine server", 2 unless defined $engine{$engine};
        my $file = spew('by-default.sql', <<"SQL");
-- strategy: by-default
-- shape: queue
-- claims: no-duplicate, no-loss
-- name: setup
CREATE TABLE begun (at $type);
INSERT INTO begun VALUES ($now);
CREATE TABLE item (id int PRIMARY KEY, made $type NOT NULL DEFAULT $default, owner varchar(64));
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim tx=one
-- answer: row
SELECT id FROM item WHERE owner IS NULL AND made <= $now ORDER BY id LIMIT 1 $lock;
UPDATE item SET owner = :worker WHERE id = :id;
-- name: complete
DELETE FROM item WHERE id = :id;
-- name: teardown
DROP TABLE item;
DROP TABLE begun;
SQL
        my ($status, $found) = explore($engine, $file, '--also', 'equal', '--steps', 'clock');
        is $status, 0, "DEFAULT $default on $engine: equals the time of a clock that stands still" or diag explain $found->{verdicts};
        # Only what is put behind the step is found, by both workers.
        my $open = slurp($file) =~ s/SELECT id FROM item WHERE.*;/SELECT id FROM item, begun WHERE made > at $later;/r;
        (undef, $found) = explore($engine, spew('by-default-late.sql', $open =~ s/\nUPDATE item.*;//r),
            '--items', '1', '--producers', '1', '--steps', 'clock', '--first');
        is $found->{verdicts}{'no-duplicate'}, 'violated', "DEFAULT $default on $engine: a step of the clock moves it" or diag explain $found->{verdicts};
    }
}

# So it is behind a set-up of hundreds of statements.
SKIP: {
    skip 'no postgres server', 1 unless defined $engine{postgres};
    my $file = spew('long-setup.sql', <<'SQL');
-- strategy: long-setup
-- shape: queue
-- claims: no-loss
-- name: setup
CREATE TABLE filler (n int);
FILL
CREATE TABLE item (id int PRIMARY KEY, made timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP, owner varchar(64));
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim tx=one
-- answer: row
SELECT id FROM item WHERE owner IS NULL AND made = CURRENT_TIMESTAMP ORDER BY id LIMIT 1 FOR UPDATE;
UPDATE item SET owner = :worker WHERE id = :id;
-- name: complete
DELETE FROM item WHERE id = :id;
-- name: teardown
DROP TABLE item;
DROP TABLE filler;
SQL
    spew('long-setup.sql', slurp($file) =~ s/^FILL$/join "\n", map { "INSERT INTO filler VALUES ($_);" } 1 .. 300/mer);
    is((explore('postgres', $file, '--also', 'equal'))[0], 0, 'the default of a table behind 300 statements');
}

# What the clock's words may stand for, or be hidden in. Where a statement may ask for a clock that does not move, no step is made, and
# no clock stands still.
sub by_words
{
    my ($engine, $setup, $condition) = @_;
    my $now = $engine eq 'mariadb' ? 'SYSDATE(6)' : 'clock_timestamp()';
    my $later = $engine eq 'mariadb' ? 'INTERVAL 600 SECOND' : "interval '600 s'";
    return spew('by-words.sql', <<"SQL");
-- strategy: by-words
-- shape: queue
-- claims: owner-release, no-loss
-- lease: fixed
-- name: setup
$setup
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim tx=one
-- answer: row
SELECT id FROM item WHERE (until IS NULL OR until <= $now) $condition ORDER BY id LIMIT 1 FOR UPDATE;
UPDATE item SET until = $now + $later WHERE id = :id;
-- name: complete
DELETE FROM item WHERE id = :id;
-- name: teardown
DROP TABLE item;
SQL
}
for my $case (
    # engine, set-up, a condition of the claim, verdicts with a step, exit status and message with equal times
    ['mariadb', 'CREATE TABLE item (id int PRIMARY KEY, until datetime(6), sysdate int);', 'AND sysdate IS NULL', 'violated', 0, qr/^$/],
    ['mariadb', 'CREATE TABLE item (id int PRIMARY KEY, until datetime(6), at varchar(19) DEFAULT SYSDATE());', "AND at <= CAST(SYSDATE() AS char(19))",
        'violated', 0, qr/^$/],
    ['mariadb', "SET STATEMENT sql_mode = '' FOR CREATE TABLE item (id int PRIMARY KEY, until datetime(6), made datetime(6) DEFAULT SYSDATE(6));",
        'AND made <= SYSDATE(6)', 'violated', 0, qr/^$/],
    ['mariadb', "EXECUTE IMMEDIATE 'CREATE TABLE item (id int PRIMARY KEY, until datetime(6), made datetime(6) DEFAULT SYSDATE(6))';",
        'AND made <= SYSDATE(6)', 'not tested', 2, qr/the clock cannot stand still: a statement asks for sysdate in quotes/],
    ['mariadb', 'CREATE TABLE item (id int PRIMARY KEY, until datetime(6));', 'AND 1 = /*!50000 1 */', 'not tested', 2, qr/the clock cannot stand still/],
    ['mariadb', 'CREATE TABLE item (id int PRIMARY KEY, until datetime(6)) WITH SYSTEM VERSIONING;', '', undef, 2,
        qr/explore cannot put back item: it is system-versioned/],
    ['postgres', 'CREATE TABLE item (id int PRIMARY KEY, until timestamptz); CREATE VIEW v AS SELECT CURRENT_DATE, LOCALTIMESTAMP, CURRENT_TIMESTAMP;',
        'AND (SELECT "current_timestamp" = CURRENT_TIMESTAMP FROM v)', 'violated', 0, qr/^$/],
    ['postgres', 'CREATE TABLE item (id int PRIMARY KEY, until timestamptz); CREATE VIEW v AS SELECT 1 AS current_date;', '', 'violated', 0, qr/^$/],
    ['postgres', 'CREATE TABLE item (id int PRIMARY KEY, until timestamptz); CREATE FUNCTION f() RETURNS date LANGUAGE sql AS $$ SELECT CURRENT_DATE $$;',
        'AND f() <= CURRENT_DATE', 'not tested', 2, qr/the clock cannot stand still: a statement asks for current_date in quotes/],
    ['postgres', 'CREATE TABLE item (id int PRIMARY KEY, until timestamptz);', 'AND CURRENT_TIME IS NOT NULL', 'not tested', 2,
        qr/the clock cannot stand still: a statement asks for CURRENT_TIME/],
)
{
    my ($engine, $setup, $condition, $verdict, $status, $message) = @$case;
    SKIP: {
        skip "no $engine server", 3 unless defined $engine{$engine};
        my $file = by_words($engine, $setup, $condition);
        my $name = substr "$engine: $setup $condition", 0, 110;
        my ($equal, undef, $err) = lockbench('explore', '-s', $file, '-d', $engine{$engine}, '--items', '1', '--also', 'equal', '-q');
        is $equal, $status, "$name: equal times" or diag $err;
        like $err, $message, '... and why';
        skip 'it cannot be put back', 1 unless defined $verdict;
        my (undef, $found) = explore($engine, $file, '--items', '1', '--steps', 'clock');
        is $found->{verdicts}{'owner-release'}, $verdict, '... and a step of the clock' or diag explain $found->{verdicts};
    }
}

my $waits;
# SYSDATE() as a default is taken for the time at which its statement began: no verdict where that statement has waited.
SKIP: {
    skip 'no mariadb server', 2 unless defined $engine{mariadb};
    $waits = spew('waits.sql', <<'SQL');
-- strategy: waits
-- shape: lock
-- claims: exclusive
-- lease: fixed
-- name: setup
CREATE TABLE res (name varchar(64) PRIMARY KEY);
CREATE TABLE lease (name varchar(64) PRIMARY KEY, owner varchar(64), fence bigint, expires datetime(6) DEFAULT (SYSDATE(6) + INTERVAL 600 SECOND));
CREATE SEQUENCE fences;
-- name: resource
INSERT INTO res (name) VALUES (:resource);
-- name: acquire
REPLACE INTO lease (name, owner, fence) SELECT name, :worker, NEXTVAL(fences) FROM res
WHERE name = :resource AND NOT EXISTS (SELECT 1 FROM lease l WHERE l.name = res.name AND l.expires > SYSDATE(6)) FOR UPDATE
RETURNING fence AS token, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires) DIV 1000 AS left_ms;
-- name: release
DELETE FROM lease WHERE name = :resource AND owner = :worker AND fence = :token;
-- name: teardown
DROP TABLE lease;
DROP TABLE res;
DROP SEQUENCE fences;
SQL
    my @case = ('--steps', 'clock', '--workers', '1', '--blockers', '1', '--isolation', 'read-committed');
    my (undef, $found) = explore('mariadb', $waits, @case);
    is $found->{verdicts}{exclusive}, 'not tested', 'a default behind a wait: no verdict';
    my $begun = spew('waits-now.sql', slurp($waits) =~ s/DEFAULT \(SYSDATE/DEFAULT (NOW/r);
    (undef, $found) = explore('mariadb', $begun, @case);
    is $found->{verdicts}{exclusive}, 'violated', 'the time at which the statement began, as a default: violated';
}

# A lease that is computed before a wait for the locks of a statement that found nothing. Its left_ms may have decimals.
for my $ms ('DIV 1000', '/ 1000') {
    SKIP: {
        skip 'no mariadb server', 1 unless defined $engine{mariadb};
        my $late = spew('late.sql', <<"SQL");
-- strategy: late
-- shape: lock
-- claims: exclusive
-- option: lease_ms = 1000
-- lease: lease_ms
-- name: setup
CREATE TABLE lease (name varchar(64) PRIMARY KEY, owner varchar(64) NOT NULL, until datetime(3) NOT NULL);
-- name: resource
SELECT :resource;
-- name: acquire
DELETE FROM lease WHERE name = :resource AND until <= now(3);
-- on-error: busy
INSERT INTO lease VALUES (:resource, :worker, now(3) + INTERVAL :lease_ms * 1000 MICROSECOND)
RETURNING timestampdiff(MICROSECOND, sysdate(3), until) $ms AS left_ms;
-- name: release
SELECT 1 AS one;
-- name: teardown
DROP TABLE lease;
SQL
        my (undef, $found) = explore('mariadb', $late, '--steps', 'clock');
        is $found->{verdicts}{exclusive}, 'violated', "a lease that is over behind a wait for a lock on nothing, $ms";
    }
}
for my $case (['sqlite', '0.5', 0], ['sqlite', '-0.5', 1], ['sqlite', "'-0.5'", 1], ['postgres', '0.5', 0], ['postgres', '-0.5', 1],
    ['mariadb', '0.5', 0], ['mariadb', '-0.5', 1], ['sqlite', 'NULL', 0], ['sqlite', "'1 s'", 3])
{
    my ($engine, $left, $status) = @$case;
    SKIP: {
        skip "no $engine server", 1 + ($status == 3) unless defined $engine{$engine};
        my $file = spew('left.sql', <<"SQL");
-- strategy: left
-- shape: lock
-- claims: exclusive
-- lease: fixed
-- name: setup
CREATE TABLE lease (name varchar(64) PRIMARY KEY, owner varchar(64));
-- name: resource
INSERT INTO lease VALUES (:resource, NULL);
-- name: acquire
-- require: row
UPDATE lease SET owner = :worker WHERE name = :resource AND owner IS NULL;
SELECT $left AS left_ms FROM lease WHERE owner = :worker;
-- name: release
UPDATE lease SET owner = NULL WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP TABLE lease;
SQL
        my ($is, undef, $said) = explore($engine, $file);
        is $is, $status, "left_ms: $left on $engine" or diag $said;
        like $said, qr/: \Q$file\E:12: column left_ms is '1 s'; it has to be a number of milliseconds$/m, '... with its line' if $status == 3;
    }
}

# A lease whose end some statement, definition or section asks of another clock: no verdict, where a step of the clock would show a
# violation that is none.
sub lease
{
    my ($engine, $name, $claims, $setup, $end, $now) = @_;
    my ($text, $time) = $engine eq 'postgres' ? qw(text timestamptz) : qw(varchar(64) datetime(6));
    return spew("$name.sql", <<"SQL");
-- strategy: $name
-- shape: lock
-- claims: $claims
-- lease: fixed
-- name: setup
CREATE TABLE job (name $text PRIMARY KEY, owner $text, expires $time NOT NULL);
$setup
-- name: resource
INSERT INTO job (name, expires) VALUES (:resource, $now);
-- name: acquire
UPDATE job SET owner = :worker, expires = $end WHERE name = :resource AND expires <= $now;
-- name: release
UPDATE job SET expires = $now WHERE name = :resource AND owner = :worker;
-- name: permits
SELECT count(*) AS free FROM job WHERE expires <= $now;
-- name: teardown
DROP TABLE job;
SQL
}
my @unmoved = (
    ['a function of set-up', 'postgres', [
        'exclusive', "CREATE FUNCTION lease_end() RETURNS timestamptz LANGUAGE sql AS \$\$ SELECT CURRENT_TIMESTAMP + interval '600 s' \$\$;",
        'lease_end()', 'CURRENT_TIMESTAMP'], qr/current_timestamp in quotes/],
    ['the function of the catalogue', 'postgres', [
        'recovery', '', "pg_catalog.clock_timestamp() + interval '600 s'", 'pg_catalog.clock_timestamp()'], qr/clock_timestamp/, '--steps', 'clock,crash'],
    ['a text that is a time', 'postgres', [
        'recovery', '', "'now'::timestamptz + interval '600 s'", "' Now '::timestamptz"], qr/now in quotes/, '--steps', 'clock,crash'],
    ['an UPDATE to a default', 'mariadb', [
        'exclusive', 'ALTER TABLE job ALTER expires SET DEFAULT (SYSDATE(6) + INTERVAL 600 SECOND);', 'DEFAULT', 'SYSDATE(6)'], qr/a default behind a wait/],
);
for my $case (@unmoved) {
    my ($name, $engine, $lease, $why, @args) = @$case;
    SKIP: {
        skip "no $engine server", 2 unless defined $engine{$engine};
        my $file = lease($engine, 'unmoved', @$lease);
        my (undef, $found) = explore($engine, $file, '--steps', 'clock', @args);
        is $found->{verdicts}{ $lease->[0] }, 'not tested', "$name on $engine: no verdict";
        my (undef, $text) = lockbench('explore', '-s', $file, '-d', $engine{$engine}, '--steps', 'clock', '--max-schedules', '1', @args);
        like $text, $why, '... and why';
    }
}
# The version before is asked as well.
SKIP: {
    skip 'no postgres server', 1 unless defined $engine{postgres};
    my @right = ('exclusive', '', "clock_timestamp() + interval '600 s'", 'clock_timestamp()');
    my $after = lease('postgres', 'after', @right);
    my $before = spew('before.sql', slurp(lease('postgres', 'before', @right)) =~ s/AND expires <=/AND LOCALTIME IS NOT NULL AND expires <=/r);
    my (undef, $found) = explore('postgres', $after, '--with', $before, '--steps', 'clock');
    is $found->{verdicts}{exclusive}, 'not tested', 'a statement of the version before asks for another clock: no verdict';
}
# The permits are counted by the clock that was moved.
for my $case (['postgres', "CURRENT_TIMESTAMP + interval '600 s'", 'CURRENT_TIMESTAMP'], ['mariadb', 'SYSDATE(6) + INTERVAL 600 SECOND', 'SYSDATE(6)']) {
    my ($engine, $end, $now) = @$case;
    SKIP: {
        skip "no $engine server", 1 unless defined $engine{$engine};
        my (undef, $found) = explore($engine, lease($engine, 'permits', 'exclusive, permits', '', $end, $now), '--steps', 'clock');
        is $found->{verdicts}{permits}, 'held', "permits on $engine are counted by the clock of the workers";
    }
}
# InnoDB locks what INSERT ... SELECT reads, also without FOR UPDATE.
SKIP: {
    skip 'no mariadb server', 1 unless defined $engine{mariadb};
    my $file = spew('reads.sql', slurp($waits) =~ s/ FOR UPDATE\n/\n/r);
    my (undef, $found) = explore('mariadb', $file, '--steps', 'clock', '--workers', '1', '--blockers', '1');
    is $found->{verdicts}{exclusive}, 'not tested', 'a default behind an INSERT that reads other rows: no verdict';
}

done_testing;
