#!/usr/bin/env perl
# Mutants of files with many schedules: smaller cases, a limit, two keys, and an operator beside a line of waiters.
# Only with scripts/test --all: its explorations take a minute or two; cli/mutate has each verdict.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

# All orders of two workers that fail, clear, complete and reset two items, and count them, take too long: a smaller case stands for them, and without it
# the check would not be called not needed. One item cannot show what the id of the cleared one is for.
my $checked = spew('checked.sql', <<'SQL');
-- strategy: checked
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE checked (id int CHECK (id > 0), state text NOT NULL DEFAULT 'ready');
-- name: put
INSERT INTO checked (id) VALUES (:id);
-- name: claim
UPDATE checked SET state = 'taken' WHERE id = (SELECT min(id) FROM checked WHERE state = 'ready') RETURNING id;
-- name: complete
SELECT count(*) AS n FROM checked;
UPDATE checked SET state = 'done' WHERE id = :id;
-- name: error
SELECT count(*) AS n FROM checked;
UPDATE checked SET state = 'failed' WHERE id = :id;
-- name: clear-error
UPDATE checked SET state = 'ready' WHERE id = :id AND state = 'failed';
-- name: clear-all-errors
UPDATE checked SET state = 'ready' WHERE state = 'failed';
-- name: reset-all
UPDATE checked SET state = 'ready' WHERE state = 'done';
-- name: teardown
DROP TABLE checked;
SQL
my ($status, $out, $err) = lockbench('mutate', '-s', $checked, '-d', 'sqlite:', '--budget', '40s', '--format', 'json');
my $result = decode_json($out);
my %complete = map { $_->{question} => $_->{complete} } @{$result->{questions}};
ok(exists $complete{'explore+operator'} && !$complete{'explore+operator'}, 'an exploration that cannot be complete') or diag $out;
ok($complete{'explore+operator, fewer items'}, 'a smaller case of it is') or diag $out;
my ($check) = grep { $_->{clause} =~ /^CHECK/ } @{$result->{mutants}};
is($check->{verdict}, 'not_needed', 'and stands for it') or diag $out;
like($check->{reason}, qr/explore\+operator, fewer items/, 'as the reason says');
my ($cleared) = grep { $_->{section} eq 'clear-error' && $_->{clause} eq 'id = :id' } @{$result->{mutants}};
like($cleared->{verdict}, qr/^(?:not_shown|needed)$/, 'but not for the id of the item that is cleared') or diag $out;
cmp_ok($_->{distinguished}, '<=', $_->{asked}, "$_->{question} distinguishes those that it was asked about") for @{$result->{questions}};

# Its operator's recover counted the wait in line as well, and took what a living holder had.
($status, $out, $err) = lockbench('mutate', '-s', 'fifo-poll-safe', '-d', 'sqlite:', '--budget', '10s');
is($status, 0, 'fifo-poll-safe is not accused') or diag $err;

# A count is no time, though it counts by time: equal times are not all that matters. No exploration has two keys everywhere.
sub of_file
{
    my ($file, $match) = @_;
    ($status, $out, $err) = lockbench('mutate', '-s', "$ENV{LB_SOURCE}/tests/strangers/$file", '-d', 'sqlite:', '--budget', '15s', '--jobs', '2', '--format', 'json');
    return grep { "$_->{section}: $_->{diff}" =~ $match } @{decode_json($out)->{mutants}};
}
my ($count) = of_file('counted-lease.sql', qr/^claim: .*\n\+ .*\) <= 2$/m);
like("$count->{verdict}, $count->{violated}", qr/^needed, key-limit$/, 'a limit whose count asks for times') or diag $out;
my @of_keys = of_file('print-server.sql', qr/^(?:free: .*id = :id\)|recover: .*printer = name)/);
cmp_ok(scalar @of_keys, '>=', 2, 'print-server has clauses that tell keys apart') or diag $out, $err;
for my $mutant (@of_keys) {
    isnt($mutant->{verdict}, 'not_needed', "print-server, $mutant->{section}: $mutant->{clause}: two keys are not explored there") or diag $out;
}

done_testing();
