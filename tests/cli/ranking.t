#!/usr/bin/env perl
# compare --repeat: medians with intervals, ratios to the fastest strategy, verdicts.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $fast = good_lock();
(my $text = slurp($fast)) =~ s/good.lock/slow_lock/g;
$text =~ s/^-- strategy: .*$/-- strategy: slow-lock/m;
my $slow = spew('slow-lock.sql', $text);
my @short = ('--duration', '80ms', '--warmup', '0', '--quiet', '--workers', '2', '--hold', '1ms');

my ($status, $out, $err) = lockbench('compare', '-s', "$fast,$slow", @short, '--repeat', '5', '--format', 'json');
is($status, 0, 'exit status') or diag $err;
my $json = decode_json($out);
is(scalar @{$json->{comparisons}}, 1, 'two strategies are one comparison');
my $c = $json->{comparisons}[0];
my %cell = map { $_->{strategy} => $_ } @{$json->{cells}};
my %rates = map { my $s = $_; $s => [sort { $a <=> $b } map { $_->{successes_per_s} } @{$cell{$s}{runs}}] } keys %cell;
cmp_ok($rates{$c->{reference}}[2], '>=', $rates{$c->{strategy}}[2], 'the reference is the faster one');
for my $of (['successes_per_s', $c->{strategy}], ['reference_successes_per_s', $c->{reference}]) {
    my ($estimate, $rates) = ($c->{$of->[0]}, $rates{$of->[1]});
    cmp_ok(abs($estimate->{value} - $rates->[2]), '<', 1e-3, "$of->[0]: the median");
    cmp_ok(abs($estimate->{low} - $rates->[0]), '<', 1e-3, "$of->[0]: five runs have min..max");
    cmp_ok(abs($estimate->{high} - $rates->[4]), '<', 1e-3, "$of->[0]: its upper end");
    is($estimate->{coverage}, 0.9375, "$of->[0]: which covers 93.75 %");
    is_deeply($cell{$of->[1]}{summary}{successes_per_s_interval}, $estimate, "$of->[0]: the summary says the same");
}
# All ratios by hand: the median, and the third from either end (U <= 2 at five against five).
my @ratios = sort { $a <=> $b } map { my $a = $_; map { $_ / $a } @{$rates{$c->{strategy}}} } @{$rates{$c->{reference}}};
cmp_ok(abs($c->{ratio}{value} - $ratios[12]), '<', 1e-6, 'ratio: the median of all');
cmp_ok(abs($c->{ratio}{low} - $ratios[2]), '<', 1e-6, 'ratio: low');
cmp_ok(abs($c->{ratio}{high} - $ratios[22]), '<', 1e-6, 'ratio: high');
like($c->{verdict}, qr/^(slower|equivalent|inconclusive)$/, 'a verdict');
is(defined $c->{reason} ? 1 : 0, $c->{verdict} eq 'inconclusive' ? 1 : 0, 'a reason if inconclusive');

($status, $out) = lockbench('compare', '-s', "$fast,$slow", @short, '--repeat', '2');
like($out, qr/^Is the order more than noise\?\nstrategy +engine +scenario +success\/s +of +ratio +p +is$/m, 'text: the table');
like($out, qr/^(good|slow)-lock .* the reference$/m, 'text: the reference');
like($out, qr/^inconclusive: 2 and 2 runs cannot show a difference among 1 comparison: at least 4 runs/m,
    'text: two runs are too few, and it says so');
like($out, qr/with 95 % intervals\s+\(from\s+so\s+few\s+runs\s+the\s+least\s+cover\s+50\s+%\)/, 'text: and what its intervals cover');
unlike($out, qr/[ \t]$/m, 'text: no blanks at the ends of lines');

($status, $out) = lockbench('compare', '--repeat', '1', '-s', "$fast,$slow", @short);
unlike($out, qr/Is the order/, 'text: one run has no ranking');
like($out, qr/^One run per cell: it shows .* It cannot tell a\s+difference between strategies from noise/ms,
    'text: and it says what one run cannot tell');
($status, $out) = lockbench('compare', '--repeat', '1', '-s', "$fast,$slow", @short, '--format', 'json');
$json = decode_json($out);
is_deeply($json->{comparisons}, [], 'json: no comparisons of one run');
is($json->{cells}[0]{summary}{successes_per_s_interval}, undef, 'json: and no interval');

# --- CSV: the same comparison, in every row of its cell.
my $again = "$fast,$slow";
my @csv = ('compare', '-s', $again, @short, '-o', scratch() . '/csv', '--seed', '3', '--format', 'csv');
($status, $out) = lockbench(@csv);
my ($head, @rows) = map { [split /,/, s/\r//r, -1] } split /\n/, $out;
my ($file) = glob scratch() . '/csv/*/run.json';
$json = decode_json(slurp($file));
is($json->{repeat}, 5, 'compare makes five runs of each cell');
is(scalar @rows, 10, 'csv: a row for each');
is((grep { @$_ != @$head } @rows), 0, 'csv: all as long as the header');
$c = $json->{comparisons}[0];
for my $row (@rows) {
    my %row;
    @row{@$head} = @$row;
    is($row{reference}, $c->{reference}, "csv: $row{strategy}: the reference");
    if ($row{strategy} eq $c->{reference}) {
        is("$row{ratio} $row{p_adjusted} $row{comparison}", '1  reference', 'csv: which is told as such');
        next;
    }
    is($row{comparison}, $c->{verdict}, 'csv: the verdict');
    my %of = (ratio => 'value', ratio_low => 'low', ratio_high => 'high');
    cmp_ok(abs($row{$_} - $c->{ratio}{$of{$_}}), '<=', 1e-5 * $row{$_}, "csv: $_") for sort keys %of;
    cmp_ok(abs($row{p_adjusted} - $c->{p_adjusted}), '<', 1e-5, 'csv: p');
}

# --- A lock that becomes slow after 700 ms has no steady state, and that is told.
$text = slurp($fast) =~ s/good.lock/tired_lock/gr =~ s/^-- strategy: .*$/-- strategy: tired-lock/mr;
$text =~ s/owner varchar\(100\)\)/owner varchar(100), made real DEFAULT (julianday('now')), work integer)/;
$text =~ s{SET owner = :worker WHERE}{SET owner = :worker, work = CASE WHEN julianday('now') - made < 0.7 / 86400 THEN 0
    ELSE (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 30000) SELECT count(*) FROM c) END WHERE};
my @tired = ('run', '-s', spew('tired-lock.sql', $text), '--workers', '1', '--hold', '0', '--think', '0', '--duration', '1500ms',
    '--warmup', '0', '--quiet');
($status, $out, $err) = lockbench(@tired);
is($status, 0, 'a lock that becomes slow') or diag $err;
like($out, qr/^steady state: 0 of 1 run, 1 (drifted|too noisy to say)$/m,
    '... has not reached a steady state (on a busy machine the noise may hide why)');
($status, $out) = lockbench(@tired, '--format', 'json');
my $steady = decode_json($out)->{cells}[0]{runs}[0]{steady_state};
like($steady->{verdict}, qr/^(drifting|unclear)$/, '... in JSON too');
ok(defined $steady->{change}{low}, '... with the interval of the change');
($status, $out) = lockbench('run', '-s', $fast, '--duration', '100ms', '--quiet');
like($out, qr/^steady state: 0 of 1 run, 1 not judged \(the measured part is shorter than a second\)$/m, 'too short: said');

done_testing();
