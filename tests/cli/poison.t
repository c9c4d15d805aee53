#!/usr/bin/env perl
# The fault poison: certain items kill their worker, fail, or outlast the lease, each time they are claimed. The strategy of
# tests/deploys/attempts.sql limits the attempts; each broken variant of it is found, and the repaired one held.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $file = "$ENV{LB_SOURCE}/tests/deploys/attempts.sql";
my @poison = ('-S', 'steady', '--fault', 'poison', '--fault-length', '50ms', '--ttl', '100ms', '--recover', '20ms',
    '--put-interval', '20ms', '--warmup', '0', '--duration', '2s');

# --- runs: side by side, as most of it is waiting ---
my @cases = (
    ['counted at the claim', 0],
    ['retried for ever', 1, '--opt', 'counted=never'],
    ['a crash does not count', 1, '--opt', 'counted=at-end'],
    ['a recovery begins anew', 1, '--opt', 'recovered=reset']);
$_->{run} = start('run', '-s', $file, @poison, @{ $_->{case} }[2 .. $#{ $_->{case} }]) for my @runs = map { { case => $_ } } @cases;
for my $run (@runs) {
    my ($what, $wanted, @options) = @{ $run->{case} };
    my @answer = finish($run->{run});
    @answer = until_shown(sub { $_[0] == $wanted }, 'run', '-s', $file, @poison, @options) if $answer[0] != $wanted;
    is($answer[0], $wanted, "$what: status") or diag "$answer[1]$answer[2]";
    like($answer[1] =~ s/\s+/ /gr, qr/attempts, \d+ times? in \d+: item \d+ was claimed \d+ times/, '... attempts is violated') if $wanted == 1;
    unlike($answer[1], qr/^  (no-loss|no-duplicate|owner-release|recovery), /m, '... and nothing else') if $wanted == 1;
}

# The first job must be done first, and it kills whoever has it, for ever: the others wait.
my @awaited = ('--opt', 'head=awaited', '--opt', 'counted=never', '--duration', '4s', '--progress-bound', '1s');
my ($status, $out, $err) = until_shown(sub { $_[0] == 1 && $_[1] =~ /progress, / }, 'run', '-s', $file, @poison, @awaited);
is($status, 1, 'jobs that wait behind a poisonous one: violated') or diag "$out$err";
like($out =~ s/\s+/ /gr, qr/progress, \d+ times? in \d+: item \d+ was put by worker \d+ .* later; the bound is 1\.00 s/s, '... progress, with the item');

# Work that fails is retried, which counts; a job that is given back without an attempt is not a failure. Were some failures given
# back, a job would be claimed more often than is allowed in 7 of 8 runs.
my $both = slurp($file) =~ s/(-- option: counted = )at-claim \| at-end/$1at-end | at-claim/r;
$both =~ s/^-- name: free when counted=at-end$/-- name: free\nUPDATE job SET state = 'ready' WHERE id = :id AND state = 'taken' AND claims = :token;\n\n-- name: retry/m;
$both =~ s/^-- name: free when counted=at-claim\|never\n.*?\n\n//ms;
$both =~ s/(-- name: recover when recovered=kept\nUPDATE job SET state = 'ready')/$1, attempts = attempts + 1/;
($status, $out, $err) = lockbench('run', '-s', spew('both.sql', $both), @poison);
is($status, 0, 'free and retry: held') or diag "$out$err";
unlike($out, qr/not tested: [^\n]*attempts/, '... and attempts was tested');

# --- refusals ---
sub refused
{
    my ($wanted, $pattern, $what, @arguments) = @_;
    my ($status, $out, $err) = lockbench(@arguments);
    is($status, $wanted, "$what: status") or diag "$out$err";
    like("$out$err", $pattern, '... and the reason');
}
refused(2, qr/fault-count: of poison, the number of poisonous items: fewer than workers, 4/, 'too many', 'run', '-s', $file, @poison,
    '--fault-count', 4);
refused(2, qr/processes: fault poison wants one for each worker: 6/, 'processes', 'run', '-s', $file, @poison, '--processes', 2);
refused(5, qr/fault poison is of a queue's items: it has no meaning for a lock/, 'a lock', 'verify', '-s', 'lock-row', '-S',
    'mutex-hot', '--fault', 'poison', '-q');
refused(5, qr/fault poison is of a queue's items: it has no meaning for a lock/, 'a lock, by --faults', 'verify', '-s', 'lock-row',
    '--faults', 'poison', '-q');

# --- the plan ---
($status, $out) = lockbench('verify', '-s', $file, '--plan');
like($out, qr/steady\+poison .*it limits the attempts: some items kill, or fail, whoever claims them/, 'verify asks for it');
($status, $out) = lockbench('verify', '-s', good_queue(), '--plan');
unlike($out, qr/poison/, '... not of a file without attempts, error or retry');

# --- histories: dead letters, and the wait of an item ---
my $n = 0;
sub judged
{
    my ($meta, @events) = @_;
    my $index = 0;
    my @lines = map {
        my ($type, $f, $process, $time, $rest) = @$_;
        sprintf '{"type":"%s","f":"%s","process":%s,"time":%d,"index":%d%s,"log":%d}', $type, $f,
            $type eq 'info' ? '"nemesis"' : $process, $time, ++$index, $rest // '', $process;
    } @events;
    my $head = sprintf '{"type":"info","f":"meta","process":"nemesis","time":0,"index":0,"value":"shape=queue\n%s\nrelease=belief\n'
        . 'complete=1\nend_ns=9000000000\n","events":%d,"log":0}', $meta, scalar @lines;
    my ($status, $out, $err) = lockbench('check', spew('poison' . ++$n . '.jsonl', join("\n", $head, @lines) . "\n"));
    return ($status, "$out$err");
}
sub put { return (['invoke', 'put', 1, 1000, ',"value":7,"arg":1'], ['ok', 'put', 1, 2000, ',"value":7,"arg":1']) }
sub claim
{
    my ($process, $time) = @_;
    return (['invoke', 'claim', $process, $time, ',"value":0'], ['info', 'item', $process, $time + 1000, ',"value":7'],
        ['ok', 'claim', $process, $time + 1000, ',"value":1,"arg":1']);
}
my @death = (['info', 'death', 0, 20_000, ',"object":0']);
my $recovery = 'claims=recovery\ndrained=1\nrecovery_bound_ns=2000000000';
for my $case (
    ['an item of a dead worker that is never claimed again', 1, $recovery, put(), claim(0, 10_000), @death],
    ['the same after its last attempt', 5, $recovery . '\nattempts=1', put(), claim(0, 10_000), @death],
    ['an item that waits for longer than the bound', 1, 'claims=progress\nprogress_bound_ns=1000000000\nitem_waits=1',
        put(), claim(0, 2_000_000_000)],
    ['the same where items may wait', 0, 'claims=progress\nprogress_bound_ns=1000000000', put(), claim(0, 2_000_000_000)],
    ['an item that waits for less', 0, 'claims=progress\nprogress_bound_ns=3000000000\nitem_waits=1',
        put(), claim(0, 2_000_000_000)],
    )
{
    my ($what, $wanted, $meta, @events) = @$case;
    my ($status, $said) = judged($meta, @events);
    is($status, $wanted, $what) or diag $said;
}

done_testing();
