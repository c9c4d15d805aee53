#!/usr/bin/env perl
# lockbench plan: answers, refusals with their exit statuses, formats, charts, an interrupt. What it
# decides is tested over a simulated engine in tests/unit/plan.c.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use POSIX qw(WNOHANG);
use Test::More;

my @six = ('--workers', '1,2,3,4,5,6');
my @quick = (@six, '--duration', '60ms', '--warmup', '0', '--repeat', '1', '--quiet');
my @mutex = ('-s', 'pthread-mutex', @quick);

# Errors found beforehand: nothing is measured, nothing is printed.
for my $wrong (
    [['--workers', '1,2,4,8,16'], 5, qr/a plan needs at least 6 different numbers of workers, not 5: give more to --workers$/],
    [['--at', '13'], 5, qr/13 workers are beyond twice the 6 that are to be measured: measure more/],
    [['--at', '0'], 2, qr/option --at: '0' is not a number above 0/],
    [['--workers', '0,1,2,3,4,5'], 2, qr/option --workers: '0' is not a number above 0/],
    [['--workers', '1,2,x'], 2, qr/option --workers: 'x' is not a count/],
    [['--slo', 'fast'], 2, qr/option --slo: 'fast' is not a percentile and a time, such as p99<50ms/],
    [['--demand', 'poisson:5/s'], 2, qr{option --demand: 'poisson:5/s' is not a rate such as 800/s}],
    [['--demand', '5'], 2, qr{option --demand: '5' is not a rate}],
    [['--rate', '5'], 2, qr{option --rate: '5': a rate is a number and a unit}],
    [['--rate', '5/s', '--demand', '5/s'], 2, qr/option --rate: not together with --demand: both are the load to plan for/],
    [['--slo', 'p50<1s', '--arrivals', 'bursts'], 2, qr/option --arrivals: 'bursts' is neither poisson nor even/],
    [['--arrivals', 'even'], 2, qr/option --arrivals: has a meaning with --slo only/],
    [['--format', 'tap'], 2, qr/unknown format 'tap'.*\(text, json, jsonl, csv\)/],
    [['--price', '0.36/h'], 2, qr/option --price: give --demand, the load that is paid for$/],
    [['--demand', '5/s', '--price', '0.36'], 2, qr{option --price: '0\.36' is no price; an hour of the server, and of a worker if it costs extra: 0\.40/h,worker=0\.05/h$}],
    [['--costs'], 2, qr/unknown option --costs for plan/],
) {
    my ($status, $out, $err) = lockbench('plan', @mutex, @{$wrong->[0]});
    is($status, $wrong->[1], "@{$wrong->[0]}: exit status");
    like($err, $wrong->[2], '... and why');
    is($out, '', '... and no result');
}
my ($status, $out, $err) = lockbench('plan');
is($status, 2, 'no strategy: usage');
like($err, qr/plan needs -s STRATEGY/, '... and why');

# Answers. Where others use the machine its search may end as not valid or its bound be missed: then it is asked again.
my $dir = scratch() . '/stored';
($status, $out, $err) = until_shown(sub { return $_[0] == 0 }, 'plan', @mutex, '--hold', '1ms', '--slo', 'p50<30ms', '--demand', '100/s',
    '--at', '3', '--price', '0.26/h,worker=0.1/h', '-o', $dir);
is($status, 0, 'exit status') or diag $out, $err;
like($out, qr/^pthread-mutex on memory, mutex-hot: /m, 'what was planned');
like($out, qr/^workers +runs +success\/s/m, 'the points');
like($out, qr/^ +6 +1 +\d/m, 'the last of them');
like($out, qr{^  3 workers carry [\d.]+k?/s(?: \(95 %: |, as measured)}m, 'what the workers carry');
like($out =~ s/\s+/ /gr, qr{ 100/s need 1 worker under p50<30ms, measured in open loop with random \(Poisson\) arrivals: 1 kept it in 3 of 3 runs \(at most }, 'how many the demand needs');
like($out, qr{^doubtful\n  (?s:.)*was run once}m, '... which is why');
like($out =~ s/\s+/ /gr, qr{ A million jobs cost 1 at 100/s with 1 worker \(0\.36 an hour\)\. A day costs 8\.64, also without a job\. },
    'the price of both');
like($out, qr{^  Headroom: 100/s leave \d+ %}m, 'what is left');
like($out, qr{^  p50<30ms holds up to .* with 3 workers: confirmed}m, 'the SLO');
like($out, qr/^bracket .*held/m, 'its search');
like($out =~ s/\s+/ /gr, qr{first answer A job took [\d.]+ ms in the first run\. By queueing theory \(G/G/c\), 1 worker keeps p50<30ms at 100/s },
    'a first answer from one run, beside the measured one');
like($out, qr{^first +\d+ +100/s}m, '... and its run');
cmp_ok((() = $out =~ /^confirm .*held/mg), '>=', 3, 'confirmed three times');
unlike($out, qr/\033/, 'no escape sequences in a file');
unlike($out, qr/[^\x00-\x7f]|^ +\/s \|/m, 'no chart in a file');
my ($stored) = (sort { -M $a <=> -M $b } glob "$dir/*/run.json")[0];
my $json = decode_json(slurp($stored));
is($json->{command}, 'plan', 'stored');
my $plan = $json->{plans}[0];
is(scalar @{$plan->{points}}, 6, 'stored: points');
is_deeply([sort { $a <=> $b } map { $json->{cells}[$_->{cell}]{config}{workers} } @{$plan->{points}}], [1 .. 6],
    'stored: each names its run');
is((grep { $_->{config}{threads} != $_->{config}{workers} } @{$json->{cells}}), 0, 'stored: all alike with a thread per worker');
is_deeply([map { $json->{cells}[$_->{cell}]{runs}[$_->{run}]{successes_per_s} } @{$plan->{points}}],
    [map { $_->{successes_per_s} } @{$plan->{points}}], '... which has its throughput');
like($json->{cells}[$plan->{slo}{trace}[0]{cell}]{config}{rate}, qr{^poisson:[\d.]+/s$}, 'stored: trials name their runs');
is($json->{cells}[$plan->{slo}{trace}[-1]{cell}]{config}{workers}, 3, '... with the workers asked for');

# Without --at only the number of workers is asked: no sweep, and neither a refusal for want of one.
($status, $out, $err) = until_shown(sub { return $_[0] == 0 }, 'plan', '-s', 'pthread-mutex', '--workers', '2', '--duration', '60ms',
    '--warmup', '0', '--slo', 'p50<30ms', '--demand', '100/s');
is($status, 0, 'workers for a demand: exit status') or diag $out, $err;
like($out, qr{^workers\n  100/s need 1 worker under p50<30ms}m, '... the answer');
unlike($out, qr/^carry|No curve|success\/s/m, '... without a sweep');
like($err, qr/^lockbench: one run of 2 workers gives a first answer;/m, '... and what is done is told before');
like($err, qr/^lockbench: a job takes 500 us in this plan: --hold TIME says how long$/m, '... and how long a job takes');

my $no_server = qr/^lockbench: without -d URI this plan is for a temporary SQLite file$/m;
unlike($err, $no_server, '... on no database, no word of one');
my @first = ('plan', '-s', 'lock-row', '--workers', '2', '--duration', '60ms', '--warmup', '0', '--slo', 'p50<1ns', '--demand', '100/s');
(undef, undef, $err) = lockbench(@first);
like($err, $no_server, 'without -d: a plan says that it is for SQLite');
(undef, undef, $err) = lockbench(@first, '-d', 'sqlite:');
unlike($err, $no_server, '... and not with it');

# A missed goal: 4. Nothing is done within a nanosecond.
my $is_never = qr/^slo\n  p50<1ns was never met with \d workers?: not even at /m;
($status, $out, $err) = until_shown(sub { return $_[0] == 4 && $_[1] =~ $is_never }, 'plan', @mutex, '--hold', '0', '--think', '200us',
    '--slo', 'p50<1ns');
is($status, 4, 'an SLO that is never met: exit status') or diag $out, $err;
like($out, $is_never, '... and why');
($status, $out) = until_shown(sub { return $_[0] == 4 }, 'plan', @mutex, '--demand', '100k/s', '--hold', '1ms');
is($status, 4, 'a demand that is too much: exit status');
like($out, qr{^  No headroom: 100k/s are \d+ % more than the }m, '... and why');

# No answer: 5. No worker succeeds while all think.
($status, $out) = lockbench('plan', @mutex, '--duration', '1ms', '--think', '5s', '--seed', '1');
is($status, 5, 'nothing measured: exit status');
like($out, qr/^  No curve: \d of 6 numbers of workers were measured, a fit needs 6/m, '... and why');
like($out, qr/nobody succeeded/, '... and what was wrong with the runs');

# A run that is not valid: 5. The process stands still for three quarters of the time, so that workers
# wake up to 30 ms late. That p99 stays below 5 ms in one of some twelve periods' first arrivals, each
# late by less with a probability of 0.4, is 1 in 50,000.
# Where this test itself is not let run, it is done again.
my ($stopped, $end) = (undef, time + 600);
do {
    $stopped = start('plan', @mutex, '--duration', '500ms', '--hold', '1ms', '--slo', 'p50<2ms');
    while (waitpid($stopped->{pid}, WNOHANG) == 0) {
        for my $step (['STOP', 0.03], ['CONT', 0.01]) {
            kill $step->[0], $stopped->{pid};
            select undef, undef, undef, $step->[1];
        }
    }
    $status = $? >> 8;
} while ($status != 5 && time < $end);
is($status, 5, 'a generator that falls behind: exit status');
like(slurp($stopped->{out}), qr/^  How much p50<2ms allows is not known: at .*\n?.* the generator fell\s+behind/m, '... and why')
    or diag slurp($stopped->{out});

# Formats.
($status, $out) = lockbench('plan', @mutex, '--format', 'jsonl');
my @lines = map { decode_json($_) } split /\n/, $out;
is($lines[0]{command}, 'plan', 'jsonl: the head');
is(scalar(grep { exists $_->{runs} } @lines), 6, 'jsonl: a line per cell');
is(scalar @{$lines[-1]{plans}}, 1, 'jsonl: the plan comes last');
($status, $out) = lockbench('plan', @mutex, '--format', 'csv');
is(scalar(split /\r\n/, $out), 7, 'csv: a row per run');

# Several: which to take.
my $which = qr/^which to take\n  Up to [\d.]+k?\/s: (?:good-lock on sqlite|pthread-mutex on memory), with up to \d+ workers?/m;
my $beyond = qr/^  Beyond: none\.$/m;
($status, $out, $err) = until_shown(sub { return $_[1] =~ $which && $_[1] =~ $beyond }, 'plan', '-s', 'pthread-mutex,' . good_lock(),
    @quick, '--hold', '1ms');
like($out, $which, 'which to take') or diag $out, $err;
like($out, $beyond, '... and up to where');
($status, $out) = lockbench('plan', @mutex);
unlike($out, qr/which to take/, 'one alone is no choice');

# A broken lock is reported, once, and not chosen.
($status, $out) = until_shown(sub { return $_[0] == 1 }, 'plan', '-s', open_door() . ',pthread-mutex', @quick, '--hold', '2ms');
is($status, 1, 'a broken lock: exit status');
is((() = $out =~ /^VIOLATED open-door/mg), 1, 'told once');
unlike($out, qr/Up to .* open-door/, 'not chosen');

# Charts, on request.
for my $locale (['C.UTF-8', qr/●/, qr/│/], ['C', qr/o/, qr/\|/]) {
    local $ENV{LC_ALL} = $locale->[0];
    ($status, $out) = until_shown(sub { return $_[1] =~ /workers 9$/m }, 'plan', @mutex, '--charts');
    my ($chart) = $out =~ m{^( +/s .*?workers 9\n)}ms;
    ok(defined $chart, "$locale->[0]: a chart") or diag $out;
    like($chart, $locale->[1], '... with points') ;
    like($chart, $locale->[2], '... and an axis');
    unlike($chart, qr/[^\x00-\x7f]/, '... in ASCII') if $locale->[0] eq 'C';
    ok(!(grep { length > 100 } split /\n/, $chart), '... of 100 columns') if $locale->[0] eq 'C';
    ($status, $out) = lockbench('compare', '-s', 'none,pthread-mutex', '--repeat', '5', '--duration', '10m', '--count', '10', '--warmup', '0', '--quiet', '--charts', '-v');
    like($out, $locale->[0] eq 'C' ? qr/ ############$/m : qr/ ████████████$/m, "$locale->[0]: bars of compare");
}
SKIP: {
    skip 'no script to make a terminal', 4 if system('script -qec true /dev/null >/dev/null 2>&1') != 0;
    local $ENV{LC_ALL} = 'C.UTF-8';
    local $ENV{TERM} = 'xterm';
    my @words = ($ENV{LOCKBENCH}, 'plan', grep { $_ ne '--quiet' } @mutex);
    my $command = "stty cols 60; " . join ' ', map { "'$_'" } @words;
    my $shown = `script -qec "$command" /dev/null </dev/null`;
    utf8::decode($shown);
    like($shown, qr/\x{25cf}/, 'a terminal: the chart');
    like($shown, qr/\033\[32m/, 'a terminal: colour');
    like($shown, qr/\r\033\[K\[\d\/6\] pthread-mutex memory mutex-hot\[workers=\d\]: /, 'a terminal: progress');
    my ($chart) = $shown =~ m{^( +/s .*?workers 9\r?$)}ms;
    $chart //= 'x' x 100;
    $chart =~ s/\033\[[\d;]*m|\r//g;
    ok(!(grep { length > 60 } split /\n/, $chart), 'a terminal: no wider than it is');
}

# Ctrl-C: the results so far are reported, and the missing ones.
my $n = 1;
$end = time + 600;
do { # where this test is not let run, all of them may have ended before it sends the signal
    my $run = start('plan', '-s', 'pthread-mutex', '--workers', '1,2,3,4,5,6', '--duration', '300ms', '--warmup', '0',
        '--repeat', '1', '-o', "$dir." . ++$n);
    wait_for(sub { return slurp($run->{err}) =~ /^\[2\/6\]/m }); # the second run has ended: 4 are to come
    kill 'INT', $run->{pid};
    ($status, $out, $err) = finish($run);
} while (($status != 130 || $out !~ /interrupted: [2-5] of 6/) && time < $end);
is($status, 130, 'interrupted: exit status');
like($out, qr/^  No curve: interrupted: [2-5] of 6 numbers of workers were measured, a fit needs 6/m, 'interrupted: what is missing') or diag $out, $err;
$json = decode_json(slurp((glob "$dir.$n/*/run.json")[0]));
ok($json->{plans}[0]{interrupted}, 'interrupted: stored as such');

(undef, undef, $err) = lockbench('plan', '-s', 'none,pthread-mutex', '--workers', '1,2,3,4,5,6', '--duration', '20ms', '--warmup', '0', '--repeat', '1');
like($err, qr/^lockbench: 12 runs \(2 plans, each of 6 numbers of workers, once each\) take /m, 'several plans: how many runs, and of what');
(undef, undef, $err) = lockbench('plan', '-s', 'none', '--workers', '1,2,3,4,5,6', '--duration', '20ms', '--warmup', '0', '--repeat', '2');
like($err, qr/^lockbench: 12 runs \(6 numbers of workers, 2 times each\) take /m, '... and one');

done_testing();
