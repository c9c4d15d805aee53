#!/usr/bin/env perl
# A worker, or its connection, is lost between two commits of a queue's sections: its item must come back.
# Only with scripts/test --all: it verifies strangers' files one by one.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/strangers";
my $file = "$folder/parted-moves.sql";
my ($postgres) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';

my ($status, $out, $err) = lockbench('verify', '-s', $file, '-d', 'sqlite:', '--plan');
like($out, qr/^ +\d+ \Q$_\E /m, "$_ is planned") or diag $err for 'explore+crash', 'explore+free+crash';

# Each section in two commits, and what shows it.
my @free = ('--workers', '1', '--frees', '1');
for my $uri (grep { defined } 'sqlite:', $postgres) {
    my ($engine) = $uri =~ /^(\w+)/;
    for ([[], []], [[], \@free], [['--opt', 'claim=parted'], []], [['--opt', 'free=parted'], \@free]) {
        my ($options, $with) = @$_;
        my $wanted = @$options ? 'violated' : 'held';
        ($status, $out, $err) = lockbench('explore', '-s', $file, '-d', $uri, @$options, @$with, '--steps', 'crash', '-q');
        is($status, $wanted eq 'held' ? 0 : 1, "$engine, @$options @$with: status") or diag $out, $err;
        like($out, qr/^ +no-loss +$wanted$/m, "... no-loss is $wanted");
        like($out, qr/^ +recovery +held$/m, '... and recovery held');
        my ($again) = $out =~ /^ +again: lockbench (.*)$/m;
        next if $wanted eq 'held' || $engine ne 'sqlite';
        (undef, $out) = lockbench(split(/ /, $again), '-q');
        like($out, qr/no-loss is violated/, '... the witness shows it again');
    }
}
($status, undef, $err) = lockbench('explore', '-s', "$folder/plainjob.sql", '-d', 'sqlite:', '--frees', '1');
is($status, 2, '--frees without a section free: refused');
like($err, qr/plainjob has no section free or retry, which --frees runs/, '... in words');

# A completion in two commits: the item may be done, and need not come back.
(my $text = slurp($file)) =~ s/^-- name: complete\n.*?\n\n/-- name: complete\n-- require: row
DELETE FROM works WHERE id = :id AND worker = :worker;
INSERT INTO waits (id, payload) SELECT 0, '' WHERE 1 = 0;
SELECT 1 AS done;\n\n/ms or die 'no complete';
($status, $out, $err) = lockbench('explore', '-s', spew('done.sql', $text), '-d', 'sqlite:', '--steps', 'crash', '--workers', '1', '-q');
unlike($out, qr/violated/, 'a completion in two commits: nothing is violated');

# A queue with a rescuer is drained, too.
($status, $out, $err) = lockbench('explore', '-s', $file, '-d', 'sqlite:', '--steps', 'crash', '--rescuers', '1', '--workers', '1', '-q');
like($out, qr/^ +no-loss +held$/m, 'a rescuer beside: drained and judged') or diag $err;

# Connections that are cut in free: what was given back must be there.
SKIP: {
    skip 'no postgres server', 2 if !defined $postgres;
    my @cut = ('verify', '-s', $file, '-d', $postgres, '-S', 'steady', '--free', '0.5', '--fault', 'cut', '--fault-count', '8',
        '--ttl', '300ms', '--recover', '100ms', '-q');
    ($status, $out) = until_shown(sub { return $_[1] =~ /no-loss$/m }, @cut);
    like($out, qr/^ok \d+ - parted-moves postgres steady no-loss$/m, 'free in one commit: no-loss held');
    ($status, $out) = until_shown(sub { return $_[1] =~ /^not ok/m }, @cut, '--opt', 'free=parted');
    like($out, qr/^not ok \d+ - parted-moves postgres steady no-loss$/m, 'free in two commits: not held any more');
}

# A waiter that dies in line is among the first schedules.
($status, $out) = lockbench('explore', '-s', "$folder/dead-waiter.sql", '-d', 'sqlite:', '--opt', 'seen=all', '--steps', 'clock,crash', '--first', '-q');
like($out, qr/recovery +violated/, 'a dead waiter is found');
my ($n) = $out =~ /violation: (\d+) schedules? run/;
cmp_ok($n // 99, '<=', 10, '... within ten schedules');

# Claims of registered processes only: so is the process that drains the queue at the end.
$text = slurp("$folder/heartbeat.sql");
$text =~ s/^(-- name: claim \[sqlite\]\n.*?\nWHERE )/$1EXISTS (SELECT 1 FROM process WHERE name = :process) AND /ms or die 'no claim';
($status, $out, $err) = lockbench('explore', '-s', spew('registered.sql', $text), '-d', 'sqlite:', '--steps', 'crash', '--workers', '1', '-q');
like($out, qr/^ +no-loss +held\n +\S+ .*\n? *(?:.*\n)*? +recovery +held/m, 'a claim asks for the process: nothing is lost') or diag $out, $err;

# No worker can claim an item that was given back, as a row of the earlier claim is still there.
for (['deletes', 0, 'held'], ['leaves', 1, 'violated']) {
    my ($free, $wanted, $verdict) = @$_;
    ($status, $out, $err) = lockbench('explore', '-s', "$folder/two-tables.sql", '-d', 'sqlite:', '-q', '--opt', "free=$free");
    is($status, $wanted, "two tables, free=$free: exit status") or diag $out, $err;
    like($out, qr/^ +no-loss +$verdict$/m, "... no-loss is $verdict");
}

# A retry that comes too late, of a file without free.
for (['receipt', 0, 'held'], ['number', 1, 'violated']) {
    my ($asks, $wanted, $verdict) = @$_;
    ($status, $out, $err) = lockbench('explore', '-s', "$folder/late-retry.sql", '-d', 'sqlite:', '-q', '--opt', "retry=$asks", '--frees', '1',
        '--items', '1', '--steps', 'clock');
    is($status, $wanted, "late retry, by its $asks: exit status") or diag $out, $err;
    like($out, qr/^ +owner-release +$verdict$/m, "... owner-release is $verdict");
}
($status, $out) = lockbench('verify', '-s', "$folder/late-retry.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^ +\d+ explore\+free .*\n(?:.*\n)* +\d+ give back late .*\n(?:.*\n)* +\d+ queue-overrun /m, 'both are planned, before others');

# An item of a group is given back too late: the group is another's by then. It is run as verify plans it.
for (['own', 0], ['name', 1]) {
    my ($free, $wanted) = @$_;
    my @late = ('run', '-s', "$folder/group-free.sql", '-d', 'sqlite:', '-q', '-S', 'queue-rescue', '--groups', 2, '--free', 0.3, '--opt', "free=$free");
    ($status, $out, $err) = $wanted ? until_shown(sub { return $_[0] == 1 }, @late) : lockbench(@late);
    is($status, $wanted, "a group that is opened late, free=$free: exit status") or diag $out, $err;
    like($out, qr/VIOLATED group-exclusive/, '... by group-exclusive') if $wanted;
}

# A recovery commits its first statement, and its second one is refused: it was no failure without an effect.
for (['finished', 0], ['idle', 1]) {
    my ($clean, $wanted) = @$_;
    ($status, $out, $err) = lockbench('explore', '-s', "$folder/janitor.sql", '--opt', "clean=$clean", '-d', 'sqlite:', '--rescuers', 1,
        '--steps', 'clock', '--items', 1);
    is($status, $wanted, "a recovery of two commits, clean=$clean: exit status") or diag $out, $err;
    like($out, qr/^  no-duplicate +held$/m, '... what it gave back is claimed again');
    like($out, qr/^  no-loss +@{[$wanted ? 'violated' : 'held']}$/m, '... and no-loss is judged');
}

# The same of a free: it has given the item back, and its note is refused.
my $noted = spew('noted.sql', <<'SQL');
-- strategy: noted
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release
-- name: setup
CREATE TABLE t (id INTEGER PRIMARY KEY, kind TEXT, payload TEXT, state INTEGER NOT NULL DEFAULT 0, n INTEGER NOT NULL DEFAULT 0);
CREATE TABLE note (id INTEGER);
-- name: put
WITH RECURSIVE x (i) AS (SELECT :id UNION ALL SELECT i + 1 FROM x WHERE i < :id + :n - 1)
INSERT INTO t (id, kind, payload) SELECT i, :class, :payload FROM x;
-- name: claim
UPDATE t SET state = 1, n = n + 1 WHERE id IN (SELECT id FROM t WHERE kind = :class AND state = 0 ORDER BY id LIMIT :n)
RETURNING id, payload, n AS token;
-- name: complete
UPDATE t SET state = 2 WHERE id = :id AND state = 1 AND n = :token;
-- name: free
-- require: row
UPDATE t SET state = 0 WHERE id = :id AND state = 1 AND n = :token;
INSERT INTO note VALUES (:id);
-- name: teardown
DROP TABLE t;
DROP TABLE note;
SQL
my @given = ('-d', 'sqlite:', '--frees', 1, '--rounds', 2);
($status, $out, $err) = lockbench('explore', '-s', $noted, @given);
is($status, 0, 'a free of two commits: exit status') or diag $out, $err;
like($out, qr/^  no-duplicate +held$/m, '... what it gave back is claimed again');
($status, $out) = lockbench('explore', '-s', spew('kept.sql', slurp($noted) =~ s/SET state = 0 WHERE/SET state = 1 WHERE/r), @given);
like($out, qr/^  no-loss +violated$/m, '... and what it does not give back is missed') or diag $out;

done_testing();
