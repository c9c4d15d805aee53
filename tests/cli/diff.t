#!/usr/bin/env perl
# lockbench diff over results that are written here, so that their numbers are known.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $scratch = scratch();
my $n_results = 0;

# A cell with one run per rate; %change goes into it.
sub cell
{
    my ($strategy, $rates, %change) = @_;
    my @runs = map {
        {   state => 'complete', successes_per_s => $_ + 0, elapsed_ns => 1_000_000_000,
            cpu_user_ns => 30 * $_, cpu_system_ns => 20 * $_,
            server_settings => { version => '15.1', fsync => 'on' },
            operations => { acquire => { response => undef, service =>
                    { p50_ns => 1e9 / $_, p95_ns => 2e9 / $_, p99_ns => undef } } } }
    } @$rates;
    if (my $starts = delete $change{starts}) {
        $runs[$_]{start_unix_ms} = $starts->[$_] for 0 .. $#runs;
    }
    return { strategy => $strategy, engine => 'postgres', scenario => 'mutex-hot',
        verdict => 'held', reason => undef, options => { ttl_ms => '1000' },
        config => { workers => 8, hold_ns => 500_000 }, runs => \@runs, %change };
}

# Writes a result's directory, returns its path.
sub result
{
    my ($cells, %change) = @_;
    my $dir = "$scratch/result-" . ++$n_results;
    mkdir $dir or die "$dir: $!\n";
    open my $file, '>', "$dir/run.json" or die "$dir: $!\n";
    print $file encode_json({ schema => 'lockbench-result', schema_version => 1,
        lockbench => '0.1.0', command => 'compare', started => '2026-01-01T00:00:00Z',
        environment => { machine => 'm', cores => 2 }, cells => $cells, %change });
    close $file or die "$dir: $!\n";
    return $dir;
}

my @steady = (1000, 1005, 1010, 1015, 1020);
my @slow   = map { $_ * 0.8 } @steady;
my $base   = result([cell('a', \@steady), cell('b', \@steady)]);

# --- verdicts and exit statuses
my ($status, $out, $err) = lockbench('diff', $base, result([cell('a', \@steady), cell('b', \@steady)]));
is($status, 0, 'alike: exit status 0') or diag $err;
like($out, qr/^a +postgres +mutex-hot +rate +1\.01k\/s \[1\.00k\/s, 1\.02k\/s\] .* equivalent$/m, 'alike: a row');
like($out, qr/^2 equivalent \(threshold 5 %/m, 'alike: the sum');

($status, $out) = lockbench('diff', $base, result([cell('a', \@steady), cell('b', \@slow)]));
is($status, 4, 'slower: exit status 4');
like($out, qr/^b .* 0\.800 \[0\.\d+, 0\.\d+\] +0\.016 +slower$/m, 'slower: ratio, p of two, verdict');
like($out, qr/^a .* equivalent$/m, 'slower: the other is not');
($status, $out) = lockbench('diff', $base, result([cell('a', \@steady), cell('b', \@slow)]),
    '--threshold', '30%');
is($status, 0, 'slower: within the threshold it is noise');

($status, $out) = lockbench('diff', result([cell('b', \@slow)]), $base);
is($status, 0, 'faster: exit status 0');
like($out, qr/^b .* faster$/m, 'faster: a row');

my @wild = (500, 800, 1010, 1300, 1900);
($status, $out) = lockbench('diff', $base, result([cell('a', \@steady), cell('b', \@wild)]));
is($status, 5, 'noise: exit status 5');
like($out, qr/^b on postgres, mutex-hot, rate: too much noise: a slowdown of 10 % is not excluded$/m,
    'noise: why');
my @three = (1000, 1005, 1010);
($status, $out) = lockbench('diff', result([cell('b', \@three)]), result([cell('b', [700, 705])]));
is($status, 5, 'few runs: exit status 5');
like($out, qr/3 and 2 runs cannot show a difference among 1 comparison:\s+at least 3\s+runs/, 'few runs: why');

# --- what is missing, and what broke
($status, $out) = lockbench('diff', $base, result([cell('a', \@steady)]));
is($status, 5, 'a missing cell: exit status 5');
like($out, qr/^b on postgres, mutex-hot, rate: the new result does not have it$/m, 'a missing cell: named');
unlike($out, qr/^b  /m, 'a missing cell: no empty row');
(undef, $out) = lockbench('diff', $base, result([cell('a', \@steady)]), '--format', 'markdown');
like($out, qr/^- b on postgres, mutex-hot, rate: the new result does not have it$/m, 'a missing cell: named in Markdown');
unlike($out, qr/^\| b \|/m, 'a missing cell: no empty row in Markdown');
($status, $out) = lockbench('diff', $base, result([cell('a', \@steady),
    cell('b', [], verdict => 'error', reason => 'no such server')]));
is($status, 5, 'a failed cell: exit status 5');
like($out, qr/no complete run of it: no\s+such server/, 'a failed cell: its reason');
my $cut = cell('b', \@steady);
$_->{state} = 'interrupted' for @{$cut->{runs}}[0 .. 3];
($status, $out) = lockbench('diff', $base, result([cell('a', \@steady), $cut]), '--format', 'json');
is($status, 5, 'interrupted runs do not count');
is(decode_json($out)->{rows}[1]{new_runs}, 1, 'interrupted runs: one is left');
($status, $out) = lockbench('diff', $base,
    result([cell('a', \@steady), cell('b', \@steady, verdict => 'violated')]));
is($status, 1, 'newly violated: exit status 1');
like($out, qr/^b .* VIOLATED$/m, 'newly violated: a row');
my $broken = result([cell('b', \@steady, verdict => 'violated')]);
is((lockbench('diff', $broken, $broken))[0], 0, 'violated before and after is no change');

# --- not alike
my %unlike = (
    'workers is 8 in the base and 16 in the new result' => [cell('b', \@steady, config => { workers => 16, hold_ns => 500_000 })],
    'hold_ns is 500000 in the base and not set in the new result' => [cell('b', \@steady, config => { workers => 8 })],
    'opt ttl_ms is 1000 in the base and 5 in the new result' => [cell('b', \@steady, options => { ttl_ms => '5' })],
);
for my $what (sort keys %unlike) {
    ($status, $out, $err) = lockbench('diff', result([cell('b', \@steady)]), result($unlike{$what}));
    is($status, 2, "not alike: exit status 2");
    like($err, qr/^lockbench: b on postgres, mutex-hot was not run alike: \Q$what\E$/m, "not alike: $what");
}
my $other = cell('b', \@steady);
$_->{server_settings}{version} = '18.0' for @{$other->{runs}};
($status, $out, $err) = lockbench('diff', result([cell('b', \@steady)]), result([$other]));
is($status, 2, 'not alike: another server version');
like($err, qr/setting version is 15\.1 in the base and 18\.0/, 'not alike: named');
for my $key ('version', 'setting version') {
    ($status, $out, $err) = lockbench('diff', result([cell('b', \@steady)]), result([$other]), '--allow', $key);
    is($status, 0, "--allow $key") or diag $err;
    like($out, qr/^not alike, as allowed: setting version is 15\.1/m, "--allow $key: and it says so");
}
($status, $out, $err) = lockbench('diff', $base, $base, '--allow', 'nothing-like-it');
is($status, 2, 'a key that is not there cannot be allowed');
my @keys = $err =~ /there are (.*), and the server's settings/ ? split / *, */, $1 : ();
my %times;
$times{$_}++ for @keys;
cmp_ok(scalar @keys, '>', 3, '... those that are there are listed') or diag $err;
is(join(' ', grep { $times{$_} > 1 } sort keys %times), '', '... each once');
($status, $out, $err) = lockbench('diff', $base,
    result([cell('a', \@steady), cell('b', \@steady)], environment => { machine => 'm', cores => 64 }));
is($status, 2, 'not alike: another machine');
like($err, qr/cores is 2 in the base and 64/, 'not alike: its cores');
# Several of one name: those that were run alike belong together.
my @sweep;
for my $workers (1, 2, 4) {
    push @sweep, cell('a', [map { $_ * $workers } @steady], config => { workers => $workers });
}
my $sweep = result([reverse @sweep]);
is((lockbench('diff', $sweep, result(\@sweep)))[0], 0, 'a sweep: each finds its own');

# --- metrics
my $twice = result([cell('a', [map { $_ / 2 } @steady])]);
($status, $out) = lockbench('diff', result([cell('a', \@steady)]), $twice, '--metric', 'p50,cpu', '--metric', 'p95');
is($status, 4, 'metrics: twice the latency is slower');
like($out, qr/^a .* p50 .* 2\.000 .* slower$/m, 'metrics: p50');
like($out, qr/^a .* p95 .* slower$/m, 'metrics: p95');
like($out, qr/^a .* cpu +50 ns .* equivalent$/m, 'metrics: cpu per success is the same');
unlike($out, qr/^a .* rate /m, 'metrics: not the rate unless asked');
is((lockbench('diff', $twice, result([cell('a', \@steady)]), '--metric', 'p50'))[0], 0, 'metrics: half is faster');
($status, $out) = lockbench('diff', $base, $base, '--metric', 'p99');
is($status, 5, 'metrics: too few samples');
like($out, qr/too few samples in a run of the base/, 'metrics: why');

# --- formats
($status, $out) = lockbench('diff', $base, result([cell('a', \@steady), cell('b', \@slow)]), '--format', 'json');
my $json = decode_json($out);
is($json->{schema} . $json->{schema_version}, 'lockbench-diff1', 'json: the schema');
my ($row) = grep { $_->{strategy} eq 'b' } @{$json->{rows}};
is($row->{outcome}, 'slower', 'json: outcome');
cmp_ok(abs($row->{ratio}{value} - 0.8), '<', 1e-6, 'json: ratio');
cmp_ok(abs($row->{p} - 2 / 252), '<', 1e-6, 'json: the exact p of five against five');
cmp_ok(abs($row->{p_adjusted} - 4 / 252), '<', 1e-6, 'json: after Holm');
cmp_ok(abs($row->{ratio}{coverage} - 1 + 2 * 12 / 252), '<', 1e-6, 'json: the coverage of the interval');
cmp_ok($row->{shows}, '>', 0.05, 'json: what these runs can find is more than the threshold');
cmp_ok($row->{shows}, '<', 0.07, 'json: ... and not much more, as they hardly scatter');
is($row->{runs_for_threshold}, 4, 'json: runs that the threshold needs');
my $power = qr/These runs show a difference of 5\.\d %( to [56]\.\d %)? in 80 of 100 cases; for one of 5 % to be significant in as many, 4 runs of each are needed\./;
($status, $out) = lockbench('diff', $base, result([cell('a', \@steady), cell('b', \@slow)]));
like($out =~ s/\s+/ /gr, $power, 'text: the power of the comparison');
like($out =~ s/\s+/ /gr, qr/ratios by Hodges and Lehmann/, 'text: ... and the estimator');
my @two = (1000, 1010);
($status, $out) = lockbench('diff', result([cell('a', \@two)]), result([cell('a', \@two)]));
like($out =~ s/\s+/ /gr, qr/So few runs show no difference, however large, in 80 of 100 cases; for one of 5 % to be significant in as many, \d+ runs/, 'text: two runs cannot show any');
($status, $out) = lockbench('diff', $base, result([cell('a', \@steady), cell('b', \@slow)]), '--format', 'markdown');
like($out, $power, 'markdown: the power');
is($status, 4, 'markdown: exit status');
like($out, qr/^\*\*lockbench: 1 slower, 1 equivalent\*\* \(threshold 5 %\)$/m, 'markdown: the sum');
like($out, qr/^\| b \| postgres \| mutex-hot \| rate \| .* \| slower \|$/m, 'markdown: a row');

# --- mistakes
for my $bad ([[$base], qr/diff takes two results/], [[$base, "$scratch/none"], qr/none: /],
    [[$base, $base, '--threshold', 'much'], qr/--threshold: 'much'/],
    [[$base, $base, '--threshold', '5'], qr/--threshold: '5' is not a share such as 5% or 0\.05/],
    [[$base, $base, '--metric', 'speed'], qr/unknown metric 'speed' \(rate, p50/],
    [[$base, $base, '--format', 'tap'], qr/unknown format 'tap'/],
    [[$base, spew('x.json', '{"cells": [')], qr/x\.json:1: /],
    [[$base, spew('y.json', '{"cells": []}')], qr/y\.json: not a result of lockbench/],
    [[$base, result([], schema_version => 7)], qr/has schema version 7, this lockbench reads 1 to 2/],
    [[$base, result([{ strategy => 'x' }])], qr/cell 0 lacks its/],
    [[$base, result([cell('a', [-1])])], qr/run 0 of cell 0 has no successes_per_s/],
    [[result([]), $base], qr/no complete run to compare with/]) {
    my ($args, $why) = @$bad;
    ($status, $out, $err) = lockbench('diff', @$args);
    is($status, 2, "mistake: exit status 2 for $why");
    like($err, qr/\Alockbench: [^\n]*${why}[^\n]*\n\z/, 'mistake: one line');
}

# --- equal results raise no alarm, a slowdown of 10 % is found: 200 pairs each. Six runs a side, log-
# normal noise of 3 %, one run in 20 is 5 to 20 % slower (the model of tests/unit/stats_compare.c).
my $seed = $ENV{LB_TEST_SEED} // int(rand(2**31));
print "# seed $seed\n";
srand($seed);
sub rates
{
    my ($factor) = @_;
    return [map {
        my $normal = sqrt(-2 * log(1 - rand)) * cos(2 * 3.14159265358979 * rand);
        1000 * $factor * exp(0.03 * $normal) * (rand() < 0.05 ? 0.95 - 0.15 * rand : 1)
    } 1 .. 6];
}
my %count;
for my $factor (1, 0.9) {
    for my $pair (1 .. 200) {
        my ($status) = lockbench('diff', result([cell('a', rates(1))]), result([cell('a', rates($factor))]));
        $count{$factor}{$status}++;
    }
}
my $alarms = $count{1}{4} // 0;
my $found  = $count{0.9}{4} // 0;
cmp_ok($alarms, '<=', 10, "A/A: $alarms of 200 pairs raise an alarm");
cmp_ok($found, '>=', 180, "10 % slower: found in $found of 200 pairs");

# --- runs in turn: what slows both of a pair down cancels
my @minutes = (1, 0.6, 0.9, 0.5, 0.8, 1.1, 0.7, 0.65);
my @then = map { 1000 * $_ } @minutes;
my @now = map { (879 + 2 * $_) * $minutes[$_] } 0 .. $#minutes;
my @even = map { 2000 * $_ } 0 .. $#minutes;
my @odd = map { $_ + 1000 } @even;
my @later = map { $_ + 100_000 } @even;
($status, $out) = lockbench('diff', result([cell('a', \@then, starts => \@even)]), result([cell('a', \@now, starts => \@odd)]));
is($status, 4, 'in turn: slower');
like($out, qr/^a .* 0\.88\d \[0\.88\d, 0\.\d+\] +0\.008 paired +slower$/m, 'in turn: by the pairs') or diag $out;
($status, $out) = lockbench('diff', result([cell('a', \@then, starts => \@even)]), result([cell('a', \@now, starts => \@later)]));
is($status, 5, 'one after the other: inconclusive');
unlike($out, qr/paired/, 'one after the other: no pairs');

# --- on a terminal
SKIP: {
    skip 'no script to make a terminal', 2 if system('script -qec true /dev/null >/dev/null 2>&1') != 0;
    my $shown = `script -qec "stty cols 60; $ENV{LOCKBENCH} diff '$base' '$base' --no-color" /dev/null </dev/null` =~ s/\r//gr;
    my ($table) = $shown =~ /^(strategy .*)/ms;
    like($table, qr/ verdict\na .* equivalent\n.*^\(no room for /ms, 'a terminal: the table leaves columns out');
    ok(!(grep { length > 60 } split /\n/, $table), '... and fits') or diag $table;
}

# --- a result that is not there: its name once
($status, $out, $err) = lockbench('diff', "$scratch/nowhere", $base);
is($status, 2, 'no such result: exit status');
is($err, "lockbench: $scratch/nowhere: No such file or directory\n", 'no such result: said once');
mkdir "$scratch/empty" or die;
(undef, undef, $err) = lockbench('diff', "$scratch/empty", $base);
is($err, "lockbench: $scratch/empty: is no result of lockbench: no run.json is in it; name the directory of one result, such as those of lockbench list results\n", 'no run.json: said once');

done_testing();
