#!/usr/bin/env perl
# Ctrl-C once ends the run early and reports; twice stops at once; kill -9 leaves nothing that the
# next run does not clean up; two runs at once do not clash.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use POSIX ':sys_wait_h';
use Test::More;
use Time::HiRes 'sleep';

# A lock of a megabyte: the size of the files tells how often it was taken.
my $lock = spew('good-lock.sql', <<'SQL');
-- strategy: good-lock
-- shape: lock
-- claims: exclusive, owner-release

-- name: setup
CREATE TABLE good_lock (name text PRIMARY KEY, owner text, weight blob);
-- name: resource
INSERT INTO good_lock (name) VALUES (:resource);
-- name: acquire
UPDATE good_lock SET owner = :worker, weight = zeroblob(1000000) WHERE name = :resource AND owner IS NULL;
-- name: release
UPDATE good_lock SET owner = NULL, weight = NULL WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP TABLE good_lock;
SQL
my $scratch = scratch();
mkdir "$scratch/db" or die;
my $target = "sqlite:$scratch/db/x.db";

# Waits until the lock was taken this often. The write-ahead log has each megabyte until it is
# copied back, at four.
sub until_taken
{
    my ($times) = @_;
    return wait_for(sub {
        my $bytes = 0;
        $bytes += -s $_ // 0 for glob "$scratch/db/*-wal";
        return $bytes > $times * 1e6;
    });
}
sub left_over { return grep { !/x\.db$/ } glob "$scratch/db/*" }

for my $signal ('INT', 'TERM', 'HUP') {
    my $run = start('run', '-s', $lock, '-d', $target, '--duration', '1h', '--warmup', '0', '-o', "$scratch/results-$signal");
    ok(until_taken(3), "$signal: it runs");
    kill $signal, $run->{pid};
    my ($status, $out, $err) = finish($run);
    is($status, 130, "$signal once: exit status");
    like($out, qr/^good-lock +sqlite +inconclusive +[\d.]*[1-9]/m, "$signal once: the numbers so far");
    like($out, qr/^stored in /m, "$signal once: it is stored");
    is(scalar(@{[glob "$scratch/results-$signal/*/run.json"]}), 1, "$signal once: run.json");
    is_deeply([left_over()], [], "$signal once: nothing is left behind");
}

# Signals that say nothing to it do not end it.
my $deaf = start('run', '-s', $lock, '-d', $target, '--duration', '1h', '--warmup', '0');
ok(until_taken(1), 'meaningless signals: it runs');
for my $signal (qw(USR1 USR2 ALRM)) {
    kill $signal, $deaf->{pid};
    sleep 0.2;
    is(waitpid($deaf->{pid}, WNOHANG), 0, "SIG$signal does not end it");
}
kill 'INT', $deaf->{pid};
is((finish($deaf))[0], 130, 'meaningless signals: it ends when it is asked to');
is_deeply([left_over()], [], 'meaningless signals: nothing is left behind');

# A hold of an hour: the first signal lets it end, the second does not.
my $run = start('run', '-s', $lock, '-d', $target, '--duration', '1h', '--hold', '1h', '--warmup', '0');
ok(until_taken(1), 'twice: the lock is held');
kill 'INT', $run->{pid};
sleep 1;
is(waitpid($run->{pid}, WNOHANG), 0, 'twice: after the first it still waits for the hold to end');
kill 'INT', $run->{pid};
my $start = time;
my ($status, $out, $err) = finish($run);
is($status, 130, 'twice: exit status');
cmp_ok(time - $start, '<', 600, 'twice: it did not wait for the hold');
like($out, qr/^good-lock +sqlite /m, 'twice: it still reports');
is_deeply([left_over()], [], 'twice: nothing is left behind');

# In the middle of several cells: those that did not run say so.
$run = start('verify', '-s', $lock, '-d', $target, '-S', 'mutex-hot,mutex-spread', '--duration', '1h');
ok(until_taken(1), 'several: it runs');
kill 'INT', $run->{pid};
($status, $out, $err) = finish($run);
is($status, 130, 'several: exit status');
like($out, qr/^ok 1 - good-lock sqlite mutex-hot exclusive # SKIP interrupted/m, 'several: an early end is no proof');
like($out, qr/^Bail out! interrupted$/m, 'several: no plan');

# kill -9
$run = start('run', '-s', $lock, '-d', $target, '--duration', '1h');
ok(until_taken(1), 'killed: it runs');
kill 'KILL', $run->{pid};
($status) = finish($run);
is($status, 128 + 9, 'killed');
isnt(scalar(left_over()), 0, 'killed: something is left behind');
($status, $out, $err) = lockbench('run', '-s', $lock, '-d', $target, '--duration', '10m', '--count', '5');
is($status, 0, 'killed: the next run works') or diag $err;
is_deeply([left_over()], [], 'killed: and cleans up');

# Two at once: temporary files are apart; a named one is used by one at a time, and the other gets
# an error.
my @two = map { start('run', '-s', $lock, '--duration', '10m', '--count', '20') } 1, 2;
for my $one (@two) {
    ($status, $out, $err) = finish($one);
    is($status, 0, 'two at once') or diag $err;
    like($out, qr/^good-lock +sqlite +held/m, 'two at once: held');
}
$run = start('run', '-s', $lock, '-d', $target, '--duration', '1h');
ok(until_taken(1), 'two on one file: the first runs');
($status, $out, $err) = lockbench('run', '-s', $lock, '-d', $target, '--duration', '200ms');
is($status, 3, 'two on one file: exit status of the second');
like($err, qr/^lockbench: .*x\.db is in use by another lockbench$/m, 'two on one file: it is told');
kill 'INT', $run->{pid};
is((finish($run))[0], 130, 'two on one file: the first is not disturbed');
is_deeply([left_over()], [], 'two on one file: nothing is left behind');

# A signal to mutate alone stops its processes as well.
sub children
{
    my ($parent) = @_;
    return grep { my $stat = eval { slurp("/proc/$_/stat") } // ''; $stat =~ /\) \S (\d+) / && $1 == $parent } map { m{/(\d+)$} } glob '/proc/[0-9]*';
}
for my $signal ('INT', 'TERM') {
    my $mutate = start('mutate', '-s', 'lease-upsert', '-d', 'sqlite:', '--jobs', '2', '--budget', '1h');
    my @children;
    ok(wait_for(sub { (@children = children($mutate->{pid})) == 2 }), "mutate, $signal: its processes run");
    kill $signal, $mutate->{pid};
    ($status, $out, $err) = finish($mutate);
    is($status, 130, "mutate, $signal: exit status") or diag $err;
    like($out, qr/^Of \d+ clauses .*, 0 are not needed /m, "mutate, $signal: the result so far, and no clause is called not needed") or diag $out;
    is_deeply([grep { -e "/proc/$_" } @children], [], "mutate, $signal: no process is left");
}

# A reader that has had enough: the pipe ends lockbench as it ends other programs, without a word; what
# runs drops its tables before. The reader is gone before anything is written.
for my $command (['list'], ['--help'], ['run', '-s', $lock, '-d', $target, '--duration', '100ms', '--quiet'],
    ['compare', '-s', "$lock,pthread-mutex", '-d', $target, '--duration', '100ms', '--quiet', '--repeat', '1000', '--format', 'jsonl']) {
    pipe my $reader, my $writer or die;
    my $pid = fork;
    if ($pid == 0) {
        close $reader;
        open STDOUT, '>&', $writer or die;
        open STDERR, '>', scratch() . '/closed-pipe.err' or die;
        exec $ENV{LOCKBENCH}, @$command or exit 99;
    }
    close $_ for $reader, $writer;
    waitpid $pid, 0;
    is($? & 127, 13, "@$command[0 .. 0], a closed pipe: ended by SIGPIPE");
    is(slurp(scratch() . '/closed-pipe.err'), '', '... without a word');
    is_deeply([left_over()], [], '... and nothing is left behind');
}

done_testing();
