#!/usr/bin/env perl
# Explorations in which a waiter gives up, a process ends in order, and one with heartbeats dies: the plan asks for them,
# and each question tells a right protocol from a wrong one.
# Only with scripts/test --all: it verifies strangers' files one by one.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/strangers";

# File, the plan's question, its options, the right setting, the wrong one, the guarantee.
my @cases = (
    ['line-cancel', 'explore+cancel', '--rounds 2 --also cancels', 'cancel=own', 'cancel=kept', 'progress'],
    ['line-cancel', 'explore+cancel', '--rounds 2 --also cancels', 'cancel=own', 'cancel=first', 'exclusive'],
    ['cleared', 'explore+operator', '--items 2 --rounds 2 --also errors', 'clear=failed', 'clear=taken', 'no-duplicate'],
    ['reset', 'explore+operator', '--items 2 --also errors', 'back=done', 'back=all', 'no-duplicate'],
    ['clear-number', 'explore+operator', '--items 2 --rounds 2 --also errors', 'clear=failed', 'clear=number', 'no-duplicate'],
    ['aba', 'explore+again', '--rounds 2', 'wrap=1000000', 'wrap=2', 'exclusive'],
    ['offset', 'explore+two puts', '--workers 1 --producers 2 --items 1 --rounds 2 --preemptions 1', 'next=state', 'next=mark', 'no-loss'],
    ['heartbeat', 'explore+unregister', '--workers 3 --items 2 --rescuers 1 --preemptions 1 --time 2s', 'leave=own', 'leave=host', 'no-duplicate'],
    ['heartbeat', 'explore+free+crash', '--workers 1 --frees 1 --steps crash', 'free=one', 'free=parted', 'no-loss'],
);
for (@cases) {
    my ($name, $question, $words, $right, $wrong, $guarantee) = @$_;
    my @file = ('-s', "$folder/$name.sql", '-d', 'sqlite:');
    my ($status, $out, $err) = lockbench('verify', @file, '--plan', '--opt', $wrong);
    like($out, qr/^ +\d+ \Q$question\E /m, "$name: $question is planned") or diag $err;
    my @explore = ('explore', @file, split(/ /, $words), '-q', '--opt');
    (undef, $out, $err) = lockbench(@explore, $right);
    unlike($out, qr/violated/, "... $right: nothing is violated");
    like($out, qr/schedules? run/, '... and it was explored') or diag $err;
    ($status, $out, $err) = lockbench(@explore, $wrong);
    is($status, 1, "... $wrong: status") or diag $out, $err;
    like($out, qr/^ +\Q$guarantee\E +violated$/m, "... $guarantee is violated");
    my ($again) = $out =~ /^ +again: lockbench (.*)$/m;
    (undef, $out) = lockbench(split(/ /, $again), '-q');
    like($out, qr/\Q$guarantee\E is violated/, '... the witness shows it again');
}

my ($status, undef, $err) = lockbench('explore', '-s', "$folder/two-locks.sql", '-d', 'sqlite:', '--also', 'cancels');
is($status, 2, 'cancels without a section cancel: refused');
like($err, qr/has no section cancel/, '... in words');

# One worker always writes, and five always read: a writer that enters between two readers only is kept out for ever.
my @starved = ('-s', "$folder/starved-writer.sql", '-d', 'sqlite:', '--opt');
my ($planned) = (lockbench('verify', @starved, 'writer=late', '--plan'))[1];
like($planned, qr/^ +\d+ one writer .* claims progress: /m, 'a lock with :mode that claims progress: one writer is planned');
my @writer = qw(-S readers-writers --shared 0 --writers 1 --workers 6 --hold 10ms --think 500us --tx-pause 0 --poll 500us
    --poll-max 2ms --progress-bound 900ms --duration 3s -q);
($status, my $out, $err) = until_shown(sub { return $_[1] =~ /^  progress, \d+ times? in /m }, 'run', @writer, @starved, 'writer=late');
is($status, 1, '... readers that overlap keep the writer out') or diag $out, $err;
($status, $out, $err) = lockbench('run', @writer, @starved, 'writer=announced');
unlike($out, qr/VIOLATED/, '... and not one that writes down its name') or diag $err;
($status, undef, $err) = lockbench('run', '-S', 'readers-writers', '--writers', '1', '-q', @starved, 'writer=late');
is($status, 2, '--writers beside the share of the scenario: refused');
like($err, qr/writers: not with shared: /, '... in words');
($status, $out) = lockbench('run', '-s', 'lock-row', '-d', 'sqlite:', '-S', 'mutex-hot', '--writers', '1', '-q');
is($status, 2, '--writers of a lock without readers: refused');

# What the plan runs of these two shows the break, and the advice names the statement.
for (['stop-all', 'stop=all', qr/sql:\d+: UPDATE job SET state = 0.*\n(?:#   \S+:\d+: .*\n)*#   The fix: stop gives back/],
    ['handful', 'back=worker', qr/sql:\d+: UPDATE job SET state = 0.*\n(?:#   \S+:\d+: .*\n)*#   The fix: free gives back other items of the claim/])
{
    my ($name, $wrong, $advice) = @$_;
    my @file = ('-s', "$folder/$name.sql", '-d', 'sqlite:', '-q', '--opt', $wrong);
    (undef, $out) = until_shown(sub { return $_[1] =~ /^not ok .* no-duplicate$/m }, 'verify', @file);
    like($out, $advice, "$name: the line, and the fix");
}

# A completion that names no item ends the worker's other items too.
my @handful = ('-s', "$folder/handful.sql", '-d', 'sqlite:', '--opt');
($status, $out) = lockbench('verify', @handful, 'end=worker', '-q', '--budget', '5s');
is($status, 1, 'handful, end=worker: caught');
like($out, qr/^not ok \d+ - handful sqlite explore\+two no-loss$/m, '... by two items in hand') or diag $out;
like($out, qr/sql:\d+: UPDATE job SET state = 2.*\n(#  .*\n)*#   The fix: the end of one item ends another of the same worker/, '... with the line, and the fix');
($status, $out) = lockbench('verify', @handful, 'back=worker', '-q', '--budget', '5s');
is($status, 1, 'handful, back=worker: caught');
like($out, qr/^not ok \d+ - handful sqlite explore\+two no-duplicate$/m, '... by two items in hand') or diag $out;
($status, $out) = lockbench('verify', @handful, 'end=item', '-q', '--budget', '5s');
is($status, 0, 'handful, end=item: held') or diag $out;
like($out, qr/^ok \d+ - handful sqlite explore\+two no-loss$/m, '... and tested with two items in hand');
for my $engine (grep { defined } map { my $e = $_; (grep { /^$e/ } split /\n/, $ENV{LB_TEST_URIS} // '')[0] } qw(postgres)) {
    my @two = ('explore', '-s', "$folder/handful.sql", '-d', $engine, '-q', '--workers', '1', '--batch', '2', '--opt');
    is((lockbench(@two, 'end=worker'))[0], 1, 'on PostgreSQL: caught');
    is((lockbench(@two, 'end=item'))[0], 0, '... and the twin is held');
}

# Items have different contents: a put that ignores an equal one puts each of them.
my $unique = spew('unique.sql', <<'SQL');
-- strategy: unique
-- shape: queue
-- claims: no-duplicate, no-loss
-- name: setup
CREATE TABLE job (id integer PRIMARY KEY, body text NOT NULL UNIQUE, state integer NOT NULL DEFAULT 0);
-- name: put
INSERT OR IGNORE INTO job (id, body) VALUES (:id, :payload);
-- name: claim
UPDATE job SET state = 1 WHERE id = (SELECT min(id) FROM job WHERE state = 0) RETURNING id, body AS payload;
-- name: complete
UPDATE job SET state = 2 WHERE id = :id AND state = 1;
SQL
($status, $out, $err) = lockbench('explore', '-s', $unique, '-d', 'sqlite:', '-q');
is($status, 0, 'a queue of unique contents is explored') or diag $out, $err;
like($out, qr/^ +no-loss +held$/m, '... and nothing is lost');

done_testing();
