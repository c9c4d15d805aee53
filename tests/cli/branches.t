#!/usr/bin/env perl
# Statements that run depending on the result of the one above (if: row, else), with refusals of
# their own (on-error): the answering statement, the rows with the claim's items, and lint's errors
# for conditions in the wrong place.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $source = $ENV{LB_SOURCE} or die "LB_SOURCE is not set\n";
my ($status, $out, $err);

# --- a lock in two steps, as in the manual ---
my $file = "$source/tests/strangers/insert-else.sql";
my $manual = slurp("$source/docs/lockbench-strategy.5");
$manual =~ s/\\-/-/g;
my ($steps) = slurp($file) =~ /^-- name: acquire .*\n((?:.*\n)+?)\n/m;
like($manual, qr/^\Q$_\E$/m, "the manual has: $_") for split /\n/, $steps;
for (['asked', 0, qr/exclusive +held/], ['unasked', 1, qr/exclusive +violated/]) {
    my ($took, $expected, $said) = @$_;
    ($status, $out, $err) = lockbench('explore', '-s', $file, '-d', 'sqlite:', '--opt', "took=$took", '--time', '10m', '-q');
    is($status, $expected, "$took: exit status") or diag $out, $err;
    like($out, $said, '... and verdict');
}

# --- a queue: from one's own shelf, else from any ---
sub queue
{
    my ($claim) = @_;
    return spew('queue.sql', <<"SQL");
-- strategy: shelves
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release
-- name: setup
CREATE TABLE work (id integer PRIMARY KEY, shelf integer, payload text, owner text, state integer DEFAULT 0);
-- name: put
INSERT INTO work (id, shelf, payload) VALUES (:id, :id % 2, :payload);
$claim
-- name: complete
UPDATE work SET state = 2 WHERE id = :id AND state = 1 AND owner = :worker;
-- name: teardown
DROP TABLE work;
SQL
}

my $take = "UPDATE work SET state = 1, owner = :worker WHERE id IN (SELECT id FROM work WHERE state = 0 %s ORDER BY id LIMIT :n)"
    . ' RETURNING id, payload;';
my $own = sprintf $take, 'AND shelf = 1';
my $any = sprintf $take, '';
my @drain = ('-S', 'drain', '--backlog', '40', '--batch', '3', '--workers', '2', '--hold', '0', '--duration', '10m', '-q');
for my $claim ("-- name: claim\n$own\n-- else\n$any\n",
    "-- name: claim tx=one begin=immediate\nSELECT count(*) AS k FROM work WHERE shelf = 1 AND state = 0 HAVING count(*) > 0;\n"
        . "-- if: row\n$own\n-- else\n$any\n")
{
    ($status, $out, $err) = lockbench('run', '-s', queue($claim), '-d', 'sqlite:', @drain);
    is($status, 0, 'shelves: drained, each item once') or diag $out, $err;
    like($out, qr/^shelves +sqlite +held/m, '... and held') or diag $out;
}

# After the answering statement, a condition refers to the statement above it.
for (['id < 0', 'held', 'finds nothing: what follows is not run'], ['id > 0', 'VIOLATED', 'finds a row: it is run']) {
    my ($rows, $verdict, $what) = @$_;
    ($status, $out, $err) = lockbench('run', '-s', queue("-- name: claim tx=one begin=immediate\n-- answer: row\n$any\n"
        . "SELECT id AS k FROM work WHERE $rows;\n-- if: row\nUPDATE work SET state = 0 WHERE state = 1;\n"), '-d', 'sqlite:', @drain, '--count', '200');
    is($status, $verdict eq 'held' ? 0 : 1, "behind the answer, a SELECT that $what") or diag $out, $err;
    like($out, qr/^shelves +sqlite +$verdict/m, "... $verdict") or diag $out;
}

# What `show` prints is the strategy.
{
    my $file = queue("-- name: claim\n$own\n-- else\n$any\n");
    ($status, $out, $err) = lockbench('show', $file, '-d', 'sqlite');
    is($status, 0, 'show') or diag $err;
    like($out, qr/^UPDATE work [^\n]*shelf = 1[^;]*;\n-- else\nUPDATE work /m, '... with its else') or diag $out;
    ($status, $out, $err) = lockbench('show', queue("-- name: claim\n$own\n-- if: row\n$own\n"), '-d', 'sqlite');
    like($out, qr/;\n-- if: row\n(?:-- answer: row\n)?UPDATE work /, '... and with its if') or diag $out;
    my $again = spew('shown.sql', (lockbench('show', $file, '-d', 'sqlite'))[1]);
    is((lockbench('show', $again, '-d', 'sqlite'))[1], (lockbench('show', $file, '-d', 'sqlite'))[1], '... to be read again')
        or diag slurp($again);
}

# The answering statement must name the claimed item.
($status, $out, $err) = lockbench('lint', queue("-- name: claim\n$own\n-- else\nUPDATE work SET state = 1 WHERE state = 0;\n"));
is($status, 2, 'a branch that answers without an id') or diag $out, $err;
like($err . $out, qr/queue\.sql:\d+: section claim: the statement that answers returns no column id/, '... is named');
($status, $out, $err) = lockbench('lint', queue("-- name: claim\nUPDATE work SET state = 1 WHERE state = 9;\n-- if: row\n$own\n"));
is($status, 0, 'one that answers only by no row needs none') or diag $out, $err;

# --- on-error of one statement: a duplicate key there is a refusal, anywhere else it ends the run ---
sub twice
{
    my ($first, $second) = @_;
    return spew('twice.sql', <<"SQL");
-- strategy: twice
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE a (name text PRIMARY KEY);
CREATE TABLE b (name text PRIMARY KEY);
INSERT INTO $first VALUES ('r0');
-- name: acquire tx=one begin=immediate
-- on-error: fail
INSERT INTO b VALUES (:resource);
-- on-error: busy
INSERT INTO a VALUES (:resource);
-- name: release
DELETE FROM b WHERE name = :resource;
-- name: teardown
DROP TABLE a;
DROP TABLE b;
SQL
}
my @once = ('-S', 'mutex-hot', '--workers', '1', '--tries', '1', '--count', '1', '--warmup', '0', '-q');
($status, $out, $err) = lockbench('run', '-s', twice('a'), '-d', 'sqlite:', @once);
like($out, qr/1 of 1 acquires, refused 1 times each/, 'the second statement refuses: the lock is busy') or diag $err;
($status, $out, $err) = lockbench('run', '-s', twice('b'), '-d', 'sqlite:', @once);
like($err . $out, qr/section acquire: on-error: fail: duplicate/, 'the first one refuses: the run ends, with the reason');

# --- in the wrong place ---
for (
    ["-- name: claim\n-- if: row\n$any\n",                qr/:9: if: it asks what the statement above came to, and there is none/],
    ["-- name: claim\n$own\n-- if: rows\n$any\n",         qr/:10: if: only "row" can be/],
    ["-- name: claim\n$own\n-- if: row\n-- else\n$any\n", qr/:11: a statement has one condition: if: row, or else/],
    ["-- name: claim\n$own\n-- else\n",                   qr/:10: else is above no statement/],
    ["-- name: claim\n$own\n-- else: row\n$any\n",        qr/:10: else: nothing stands behind it on its line; the statement for no row is below it/],
    ["-- name: claim\n$own\n-- on-error: busy\n",         qr/:10: on-error: is above no statement/])
{
    my ($claim, $said) = @$_;
    ($status, $out, $err) = lockbench('lint', queue($claim));
    is($status, 2, "refused: $said");
    like($err . $out, $said, '... in words');
}
done_testing();
