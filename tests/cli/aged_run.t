#!/usr/bin/env perl
# The keys aged and statistics: a run's tables are full of items that no worker can claim, and the judge is in force.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json);
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/aged";
my @uris = ('sqlite:', grep { !/^sqlite:/ && length } split /\n/, $ENV{LB_TEST_URIS} // '');
my @short = ('-S', 'steady', '--duration', '300ms', '--warmup', '0', '--workers', 2, '--quiet');

# Its claim finds nothing where the table has 4 to 1999 finished items, and does not mark what it gets.
my $broken = spew('broken.sql', <<'SQL');
-- strategy: broken
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, status varchar(10) NOT NULL DEFAULT 'new');
-- name: put
INSERT INTO job (id) VALUES (:id);
-- name: claim
SELECT id FROM job WHERE status = 'new' AND (SELECT count(*) FROM job WHERE status = 'done') NOT BETWEEN 4 AND 1999 ORDER BY id LIMIT 1;
-- name: complete
UPDATE job SET status = 'done' WHERE id = :id;
SQL
for my $uri (@uris) {
    my ($engine) = $uri =~ /^(\w+)/;
    my ($status, $out, $err) = lockbench('run', '-s', "$folder/walks-delayed-repaired.sql", '-d', $uri, @short, '--backlog', 5,
        '--aged', 'finished=2k,failed=41,delayed=1000', '--json');
    my $run = eval { decode_json($out) } or diag "$out$err";
    is($status, 0, "$engine: every guarantee held beside aged items") or diag $err;
    my $scenario = $run->{cells}[0]{config};
    is($scenario->{aged}, 'finished=2k,failed=41,delayed=1000', '... the result has the key');
    is($scenario->{statistics}, 'fresh', '... and the statistics');
    ($status, $out, $err) = lockbench('run', '-s', $broken, '-d', $uri, @short, '--backlog', 5, '--aged', 'finished=2k');
    is($status, 1, '... there are as many items as asked for, and a violation is one') or diag "$out$err";
    ($status, $out, $err) = lockbench('run', '-s', $broken, '-d', $uri, @short, '--backlog', 5, '--aged', 'finished=1996');
    is($status, 5, '... no more') or diag "$out$err";
}

for my $uri (grep { !/^sqlite/ } @uris) {
    my ($status, $out, $err) = lockbench('run', '-s', "$folder/walks-dead.sql", '-d', $uri, @short, '--backlog', 5, '--aged', 'dead=400', '--json');
    is($status, 0, 'every guarantee held beside dead rows') or diag "$out$err";
}

# --- compare: the ranking with fresh and with aged tables ---
my ($status, $out, $err) = lockbench('compare', '-s', "$folder/walks-delayed.sql,$folder/walks-delayed-repaired.sql", '-d', 'sqlite:', '-S', 'steady',
    '--duration', '500ms', '--warmup', '0', '--repeat', 3, '--quiet', '--aged', 'delayed=8k');
like($out, qr/^Which is the fastest\? steady on sqlite/m, 'compare: fresh tables') or diag "$out$err";
my ($aged) = $out =~ /^(Which is the fastest\? steady\[aged\] on sqlite.*)/ms;
(my $flat = $aged // '') =~ s/\s+/ /g;
like($flat, qr/Successes\/s with fresh and with aged tables \(delayed=8k\): walks-delayed-repaired \d\S* and \d\S*; walks-delayed \d\S* and \d\S*\./,
    '... and aged ones, with the rates of both') or diag $out;

($status, $out, $err) = lockbench('compare', '-s', 'skip-locked,lease-queue', '-d', 'sqlite:', '-S', 'steady', '--duration', '300ms', '--warmup', '0',
    '--repeat', 2, '--quiet', '--aged', 'delayed=400');
$out =~ s/\s+/ /g;
like($out, qr/skip-locked on sqlite, steady\[aged\]: SKIP: aged: delayed items: no time of an item keeps it/, 'a strategy without such items is left out, with the reason')
    or diag "$out$err";
like($out, qr/lease-queue on sqlite, steady\[aged\]: held/, '... and the only one that has them is named');

# --- what the server knows of the tables: a claim, but not of the aged items, depends on it ---
my $stale_postgres = "'autovacuum_enabled=false' = ANY (reloptions) AND reltuples < 100";
my $stale_mariadb = "create_options LIKE '%stats_auto_recalc=0%'";
for my $case (
    ['postgresql', 'stale', $stale_postgres, 0],
    ['postgresql', 'default', $stale_postgres, 5],
    ['postgresql', 'fresh', 'reloptions IS NULL AND reltuples >= 2000 AND pg_stat_get_last_vacuum_time(oid) IS NOT NULL', 0],
    ['mariadb', 'stale', $stale_mariadb, 0],
    ['mariadb', 'default', $stale_mariadb, 5],
) {
    my ($engine, $statistics, $condition, $want) = @$case;
    my ($uri) = grep { /^\Q$engine/ } @uris or next;
    my $catalog = $engine eq 'mariadb' ? "information_schema.tables WHERE table_schema = database() AND table_name = 'job'" : "pg_class WHERE oid = 'job'::regclass";
    my $knowing = spew('knowing.sql', <<"SQL");
-- strategy: knowing
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, status varchar(10) NOT NULL DEFAULT 'new');
-- name: put
INSERT INTO job (id) VALUES (:id);
-- name: claim tx=one
-- answer: row
-- require: row
SELECT id FROM job WHERE status = 'new' AND (id >= 1000000000 OR (SELECT $condition FROM $catalog)) ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE job SET status = 'taken' WHERE id = :id;
-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'taken';
SQL
    my ($status, $out, $err) = lockbench('run', '-s', $knowing, '-d', $uri, @short, '--backlog', 5, '--aged', 'finished=2k', '--statistics', $statistics);
    is($status, $want, "$statistics statistics on $engine") or diag "$out$err";
}

# --- days: as many finished items as the demand leaves ---
($status, $out, $err) = lockbench('plan', '-s', "$folder/no-index.sql", '-d', 'sqlite:', '--duration', '300ms', '--warmup', '0', '--quiet',
    '--aged', '0.01d', '--demand', '2/s', '--dry-run');
like($out . $err, qr/drain\[aged\]/, 'plan: fresh tables and aged ones');
for my $case (
    [['plan', '--aged', '90d'], qr/option --aged: 90d leaves as many finished items as --demand says, which is not given/],
    [['plan', '--aged', '90d', '--demand', '300/s'], qr/option --aged: 90d at 300\/s leaves 2332800000 finished items, and can be 1 to 100000000/],
    [['compare', '--aged', '90d'], qr/option --aged: 90d leaves as many finished items as --rate says, which is not given/],
) {
    my ($command, @flags) = @{ $case->[0] };
    ($status, $out, $err) = lockbench($command, '-s', "$folder/no-index.sql", '-d', 'sqlite:', @flags);
    is($status, 2, "$command @flags: refused");
    like($err, $case->[1], '... with the reason');
}
($status, $out, $err) = lockbench('compare', '-s', "$folder/no-index.sql,$folder/no-index-repaired.sql", '-d', 'sqlite:', '-S', 'steady', '--duration', '300ms',
    '--warmup', '0', '--repeat', 2, '--quiet', '--rate', '5/s', '--aged', '0.01d');
$out =~ s/\s+/ /g;
like($out, qr/aged tables \(finished=4320\)/, 'compare: days at the rate') or diag "$out$err";

# --- refusals ---
my $classless = spew('classless.sql', <<'SQL');
-- strategy: classless
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, class varchar(40) NOT NULL, status varchar(10) NOT NULL DEFAULT 'new');
-- name: put
INSERT INTO job (id, class) VALUES (:id, :class);
-- name: claim tx=one
-- answer: row
-- require: row
SELECT id FROM job WHERE status = 'new' ORDER BY id LIMIT 1;
UPDATE job SET status = 'taken' WHERE id = :id;
-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'taken';
SQL
($status, $out, $err) = lockbench('run', '-s', $classless, '-d', 'sqlite:', @short, '--aged', 'other-class=100');
is($status, 2, 'items that a worker could claim: refused');
like($err, qr/classless on sqlite, steady: aged: classless lets a worker claim one of these items/, '... with the reason');
($status, $out, $err) = lockbench('run', '-s', $classless, '-d', 'sqlite:', @short, '--aged', 'delayed=100');
is($status, 2, 'a state that the strategy does not have: refused');
like($err, qr/aged: delayed items: no time of an item keeps it from being claimed/, '... with the reason');

# --- bad input ---
for my $case (
    [['--aged', 'old=3'], qr/aged: 'old' is not finished, failed, delayed, other-class or dead/],
    [['--aged', 'dead=8'], qr/aged: dead items: SQLite keeps no dead rows: it removes a row at once/],
    [['--aged', 'finished'], qr/aged: finished=N needs a number from 1 to/],
    [['--aged', 'finished=0'], qr/aged: finished=N needs a number from 1 to/],
    [['--aged', 'waiting=3'], qr/aged: items that wait are those of backlog/],
    [['--aged', 'claimed=3'], qr/aged: items that are in hand would be recovered during the run/],
    [['--statistics', 'stale'], qr/statistics: of aged tables/],
    [['--aged', 'finished=8', '--statistics', 'new'], qr/statistics: 'new' is not fresh, stale or default/],
    [['--aged', 'finished=8', '--readers', '1'], qr/aged: not with rounds, readers, rows or period/],
) {
    ($status, $out, $err) = lockbench('run', '-s', $classless, '-d', 'sqlite:', @short, @{ $case->[0] });
    is($status, 2, "@{ $case->[0] }: refused");
    like($err, $case->[1], '... with the reason');
}
done_testing;
