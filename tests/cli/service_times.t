#!/usr/bin/env perl
# Service times and arrivals from real data: --hold with a distribution or a file, --rate with a trace. The results have them, runs
# follow them, and a mistake is one line that says where it is.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $queue = good_queue();
my $lock = good_lock();

# The times of an export: with a header, not in order, the end of the line from another system.
my $durations = spew('durations.csv', "seconds\r\n0.03\r\n30ms\r\n0.03\r\n");
my $arrivals = spew('arrivals.csv', join "\n", 'created_at', '1764316801.5', map { 1764316800 + $_ / 100 } 0 .. 40);

sub run_json
{
    my ($status, $out, $err) = lockbench('run', '-d', 'sqlite:', '--format', 'json', '-q', @_);
    ok($status == 0 || $status == 5, "run @_") or diag $out, $err;    # 5: the machine was too busy to begin on time
    my $cell = decode_json($out)->{cells}[0];
    return ($cell->{config}, $cell->{runs}[0]);
}

my ($config, $run) = run_json('-s', $lock, '-S', 'mutex-hot', '--workers', 2, '--count', 5, '--duration', '20s', '--warmup', 0, '--hold', "file:$durations");
is($config->{hold_ns}, 30_000_000, 'the result has the mean');
is($config->{hold_distribution}, "file:$durations", '... and the distribution');
cmp_ok($run->{operations}{hold}{service}{min_ns} // 0, '>=', 29_000_000, 'no hold is shorter than the shortest of the file');

# Twice as fast: 1.5 s of the trace take 0.75 s, and nothing comes after.
($config, $run) = run_json('-s', $queue, '-S', 'steady', '--rate', "trace:$arrivals,speed=2", '--duration', '1500ms', '--warmup', '100ms', '--hold', 'exp:200us');
is($config->{rate}, "trace:$arrivals,speed=2", 'the result has the trace');
my $planned = $run->{operations}{put}{planned} // -1;
cmp_ok($planned, '>=', 10, 'arrivals of the trace came');
cmp_ok($planned, '<=', 42, '... and no others');
cmp_ok($run->{config}{hold_ns} // $config->{hold_ns}, '<', 200_001, 'the mean of an exponential law');
unlike("@{ $run->{warnings} }", qr/ended before the trace/, '... to the end of the trace');
(undef, $run) = run_json('-s', $queue, '-S', 'steady', '--rate', "trace:$arrivals", '--duration', '300ms', '--warmup', 0);
like("@{ $run->{warnings} }", qr/the run ended before the trace: \d+ of its \d+ arrivals came; see --duration/, 'a run that ends before it warns');

# Compared side by side, as a list.
my ($status, $out, $err) = lockbench('run', '-d', 'sqlite:', '-q', '-s', $lock, '-S', 'mutex-hot', '--hold', '100us,exp:100us', '--duration', '100ms');
is($status, 0, 'a list of a time and a law') or diag $out, $err;
like($out, qr/exp:100us/, '... has a row for each');

# A scenario file takes the same texts, and its mistakes have its line.
my $scenario = spew('own.ini', "# Question: does it?\nshape = lock\nworkers = 2\nduration = 100ms\nhold = lognormal:100us,1\n");
($status, $out, $err) = lockbench('run', '-d', 'sqlite:', '-s', $lock, '-S', $scenario);
is($status, 0, 'a file with a law') or diag $out, $err;
like($out, qr/hold lognormal:100us,1/, '... which is shown');

my $wrong = spew('wrong.csv', "1\n2026-11-28 08:00:00\n");
my $broken = spew('wrong.ini', "shape = lock\nworkers = 2\nhold = pareto:1ms,0.5\n");
for my $case (
    [['--hold', 'file:/no/where.csv'], qr{^lockbench: option --hold: cannot open /no/where\.csv: No such file or directory; the path counts from the current directory$}],
    [['--hold', "file:$wrong"], qr{^lockbench: option --hold: \Q$wrong\E:2: '2026-11-28 08:00:00' is not a duration: give seconds, or a number with its unit such as 5ms$}],
    [['--rate', "trace:$wrong"], qr{^lockbench: option --rate: \Q$wrong\E:2: '2026-11-28 08:00:00' is not a number of seconds: in SQL, extract\(epoch FROM created_at\), or UNIX_TIMESTAMP\(\)$}],
    [['--hold', 'gamma:5ms'], qr{^lockbench: option --hold: 'gamma:5ms' is not a time with its unit, and no distribution; accepted: 5ms, exp:5ms, }],
    [['-S', $broken], qr{^lockbench: \Q$broken\E:3: hold: 'pareto:1ms,0\.5' needs an exponent above 1}])
{
    my ($args, $message) = @$case;
    my ($status, $out, $err) = lockbench('run', '-d', 'sqlite:', '-s', $lock, @$args);
    is($status, 2, "@$args: usage") or diag $out;
    like($err, $message, '... with its place and a way out');
    is(() = $err =~ /\n/g, 1, '... in one line');
}

# Phases have rates of their own, and a plan finds its rates itself.
my $phased = spew('phased.ini', "shape = queue\nproducers = 1\nrate = trace:$arrivals\nduration = 2s\n[phase a]\nshare = 50%\n[phase b]\nshare = 50%\nrate = 10/s\n");
($status, $out, $err) = lockbench('run', '-d', 'sqlite:', '-s', $queue, '-S', $phased);
is($status, 2, 'a trace and phases with rates') or diag $out;
like($err, qr/rate: 'trace:\S+': a trace has the rate of each moment, so no phase can have one: take `rate` out of the phases, or speed=2 for/, '... are refused');
($status, $out, $err) = lockbench('plan', '-d', 'sqlite:', '-s', $queue, '--demand', "trace:$arrivals");
is($status, 2, 'a plan for a trace') or diag $out;

# 100 arrivals in 100 s, half of them in the last tenth.
my $peak = spew('peak.csv', join '', map { "$_\n" } (map { $_ * 1.8 } 0 .. 49), (map { 90.1 + $_ * 9.9 / 49 } 0 .. 49));
for my $option ('--demand', '--rate') {
    ($status, $out, $err) = lockbench('plan', '-d', 'sqlite:', '-s', $queue, $option, "trace:$peak");
    is($status, 2, "plan $option trace: status");
    like(
        $err,
        qr/^lockbench: option $option: a plan is for one rate, and 'trace:\S+' has 100 arrivals in 100 s: 1\/s, and 5\/s in its busiest tenth; plan for the latter, and check it by `run --rate trace:\S+`$/,
        '... says both rates'
    );
}
($status, $out, $err) = lockbench('plan', '-d', 'sqlite:', '-s', $queue, '--demand', 'trace:/no/such.csv');
is($status, 2, 'plan for a trace that is not there: status');
like($err, qr/^lockbench: option --demand: .*\/no\/such\.csv.*$/, '... one line');

done_testing;
