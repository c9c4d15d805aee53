#!/usr/bin/env perl
# compare: ratios to the fastest strategy within rounds, with intervals, letters, an answer in words.
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
my @common = ('--warmup', '0', '--quiet', '--workers', '2', '--hold', '1ms');
my @short = ('--duration', '10m', '--count', '30', @common); # however slow the machine is: all succeed
my @timed = ('--duration', '80ms', @common);

my ($status, $out, $err) = lockbench('compare', '-s', "$fast,$slow", @short, '--repeat', '5', '--format', 'json');
is($status, 0, 'exit status') or diag $err;
my $json = decode_json($out);
my ($c, @more) = grep { $_->{measured} eq 'rate' } @{$json->{comparisons}};
is(scalar @more, 0, 'two strategies are one comparison of rates');
my %cell = map { $_->{strategy} => $_ } @{$json->{cells}};
my %rates = map { my $s = $_; $s => [map { $_->{successes_per_s} } @{$cell{$s}{runs}}] } keys %cell;
for my $of (['median', $c->{strategy}], ['reference_median', $c->{reference}]) {
    my ($estimate, @sorted) = ($c->{$of->[0]}, sort { $a <=> $b } @{$rates{$of->[1]}});
    cmp_ok(abs($estimate->{value} - $sorted[2]), '<', 1e-3, "$of->[0]: the median");
    cmp_ok(abs($estimate->{low} - $sorted[0]), '<', 1e-3, "$of->[0]: five runs have min..max");
    cmp_ok(abs($estimate->{high} - $sorted[4]), '<', 1e-3, "$of->[0]: its upper end");
    is($estimate->{coverage}, 0.9375, "$of->[0]: which covers 93.75 %");
    is_deeply($cell{$of->[1]}{summary}{successes_per_s_interval}, $estimate, "$of->[0]: the summary says the same");
}
# Of two strategies it is Student's t of the logarithms of the ratios within the rounds, by hand.
my @logs = map { log($rates{$c->{strategy}}[$_] / $rates{$c->{reference}}[$_]) } 0 .. 4;
my ($sum, $squares) = (0, 0);
$sum += $_ / 5 for @logs;
$squares += ($_ - $sum)**2 for @logs;
my $reach = 2.776445 * sqrt($squares / 4 / 5);
cmp_ok($sum, '<=', 0, 'the reference is the faster one');
for my $of ([value => $sum], [low => $sum - $reach], [high => $sum + $reach]) {
    cmp_ok(abs(log($c->{ratio}{$of->[0]}) - $of->[1]), '<', 1e-4 + 1e-4 * $reach, "ratio: $of->[0], by hand");
}
like($c->{verdict}, qr/^(slower|equivalent|inconclusive)$/, 'a verdict');
my ($table) = grep { $_->{measured} eq 'rate' } @{$json->{rankings}};
like($table->{answer}, qr/^Fastest: \Q$c->{reference}\E\. /, 'json: the answer in words');
is($table->{rounds}, 5, 'json: of five rounds');
is_deeply($table->{looks}, [{rounds => 5, alpha => 0.05}], 'json: one look at them');
my %letters = map { $_->{strategy} => $_->{letters} } @{$table->{ranks}};
is($letters{$c->{reference}} eq $letters{$c->{strategy}} ? 1 : 0, $c->{verdict} eq 'slower' ? 0 : 1,
    'who is not told apart shares a letter');
is(scalar(grep { $_->{measured} eq 'cpu' } @{$json->{comparisons}}), 1, 'json: CPU per success is compared too');

($status, $out) = lockbench('compare', '-s', "$fast,$slow", @short, '--repeat', '2', '-v');
like($out, qr/^Which is the fastest\? mutex-hot on sqlite, 2 rounds$/m, 'text: the table');
like($out, qr/^strategy +success\/s +ratio +rounds +group +is$/m, 'text: its columns');
like($out, qr/^(good|slow)-lock .* the fastest$/m, 'text: the reference');
like($out, qr/2 rounds show no difference, however large: at least 3 are needed/,
    'text: two rounds are too few, and it says so');
unlike($out, qr/[ \t]$/m, 'text: no blanks at the ends of lines');

# Without -v the answer comes first, and all fits on a screen.
($status, $out) = lockbench('compare', '-s', "$fast,lease-upsert", @short, '--repeat', '2');
like($out, qr/^Which is the fastest\? mutex-hot on sqlite, 2 rounds\n  To choose,/, 'text: the answer is the first line');
like($out, qr/^  Its SQL: lockbench show lease-upsert -d sqlite\n  Confidence: /m, 'text: then how to get its SQL, and the confidence');
like($out, qr/^strategy +success\/s +ratio +p99 wait +cpu +after a death +is$/m, 'text: then a short table');
like($out, qr/^sqlite: SQLite at .*journal_mode=/m, 'text: the settings that numbers depend on');
unlike($out, qr/^tries: |^not tested /m, 'text: no details');
cmp_ok($out =~ tr/\n//, '<=', 24, 'text: one screen');

($status, $out) = lockbench('compare', '-s', "$fast,$slow", @short, '--repeat', '3', '--reference', 'slow-lock', '-v');
like($out, qr/Against slow-lock, the reference: /, 'a reference can be named');
like($out, qr/^slow-lock .* 1 +3 +the reference$/m, '... and is the one that the ratios are of');
($status, $out, $err) = lockbench('compare', '-s', "$fast,$slow", @short, '--reference', 'slow-look');
is($status, 2, 'a reference that is not compared is refused');
like($err, qr/option --reference: 'slow-look' is none of the strategies; did you mean slow-lock\?/, '... and which was meant');

($status, $out) = lockbench('compare', '--repeat', '1', '-s', "$fast,$slow", @short);
unlike($out, qr/Which is the fastest/, 'text: one run has no ranking');
like($out, qr/^One run per cell: it shows .* It cannot tell a\s+difference between strategies from noise/ms,
    'text: and it says what one run cannot tell');
($status, $out) = lockbench('compare', '--repeat', '1', '-s', "$fast,$slow", @short, '--format', 'json');
$json = decode_json($out);
is_deeply($json->{comparisons}, [], 'json: no comparisons of one run');
is_deeply($json->{rankings}, [], 'json: nor a ranking');
is($json->{cells}[0]{summary}{successes_per_s_interval}, undef, 'json: and no interval');

# --- CSV: the same comparison, in every row of its cell.
my $again = "$fast,$slow";
my @csv = ('compare', '-s', $again, @short, '-o', scratch() . '/csv', '--seed', '3', '--repeat', '5', '--format', 'csv');
($status, $out) = lockbench(@csv);
my ($head, @rows) = map { [split /,/, s/\r//r, -1] } split /\n/, $out;
my ($file) = glob scratch() . '/csv/*/run.json';
$json = decode_json(slurp($file));
is($json->{repeat}, 5, 'compare makes five runs of each cell');
is(scalar @rows, 10, 'csv: a row for each');
is((grep { @$_ != @$head } @rows), 0, 'csv: all as long as the header');
($c) = grep { $_->{measured} eq 'rate' } @{$json->{comparisons}};
($table) = grep { $_->{measured} eq 'rate' } @{$json->{rankings}};
%letters = map { $_->{strategy} => $_->{letters} } @{$table->{ranks}};
for my $row (@rows) {
    my %row;
    @row{@$head} = @$row;
    is($row{reference}, $c->{reference}, "csv: $row{strategy}: the reference");
    is($row{letters}, $letters{$row{strategy}}, 'csv: its letters');
    if ($row{strategy} eq $c->{reference}) {
        is("$row{ratio} $row{comparison}", '1 the fastest', 'csv: which is told as such');
        next;
    }
    is($row{comparison}, $c->{is}, 'csv: the same word');
    my %of = (ratio => 'value', ratio_low => 'low', ratio_high => 'high');
    cmp_ok(abs($row{$_} - $c->{ratio}{$of{$_}}), '<=', 1e-5 * $row{$_}, "csv: $_") for sort keys %of;
}

# --- By a budget: rounds go on, a strategy decided against all drops out, and the error is spent
# over the looks.
(my $third = slurp($fast)) =~ s/good.lock/other_lock/g;
$third =~ s/^-- strategy: .*$/-- strategy: other-lock/m;
(my $far = slurp($fast)) =~ s/good.lock/far_lock/g;
$far =~ s/^-- strategy: .*$/-- strategy: far-lock/m;
$far =~ s{SET owner = :worker WHERE}{SET owner = (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 15000)
    SELECT :worker WHERE (SELECT count(*) FROM c) > 0) WHERE} or die 'no statement to slow down';
my $four = join ',', $fast, spew('other-lock.sql', $third), spew('far-lock.sql', $far);
my @budget = ('compare', '-s', $four, @timed, '--hold', '0', '--think', '0', '--budget', '6s');
my $is_decided = sub { return $_[0] != 0 || $_[1] =~ /Slower: [^"]*far-lock/ }; # a machine that stands still decides nothing
($status, $out, $err) = until_shown($is_decided, @budget, '--format', 'json');
is($status, 0, 'a budget') or diag $err;
$json = decode_json($out);
my %n = map { $_->{strategy} => scalar @{$_->{runs}} } @{$json->{cells}};
($table) = grep { $_->{measured} eq 'rate' } @{$json->{rankings}};
cmp_ok($n{'far-lock'}, '>=', 3, 'at least three rounds of each');
cmp_ok($n{'far-lock'}, '<=', $n{'good-lock'}, 'who is out by far is run no more often than the others');
%letters = map { $_->{strategy} => $_->{letters} } @{$table->{ranks}};
is($n{'good-lock'}, $n{'other-lock'}, '... who are run alike, until they are told apart from nobody any more')
    if $letters{'good-lock'} eq $letters{'other-lock'};
cmp_ok($json->{repeat}, '==', $n{'good-lock'}, 'repeat: the most rounds');
is($json->{budget_ns}, 6e9, 'and the budget');
my @looks = @{$table->{looks}};
my $spent = 0;
$spent += $_->{alpha} for @looks;
cmp_ok($spent, '<=', 0.05 + 1e-9, 'all looks together spend no more than the error of one');
is($looks[0]{rounds}, 3, 'the first look is after three rounds');
is((grep { $looks[$_]{rounds} <= $looks[$_ - 1]{rounds} } 1 .. $#looks), 0, 'each later one after more');
like($table->{answer}, qr/Slower: .*far-lock 0\.\d+ \[0\.\d+, 0\.\d+\]/, 'and the far one is decided');
like($err, qr/lockbench: this takes about \d+ s, and less if all is decided before/, 'the forecast') if $err ne '';
for my $of ([['--repeat', '3'], qr/option --budget: not together with --repeat/], [['--workers', '1,2'], qr/option --budget: needs two .* no sweep/]) {
    ($status, $out, $err) = lockbench(@budget, @{$of->[0]});
    is($status, 2, "--budget with $of->[0][0] is refused");
    like($err, $of->[1], '... and says why');
}
($status, $out, $err) = lockbench('compare', '-s', $fast, @timed, '--budget', '0.5s');
like($err, qr/option --budget: '0.5s' is not a time from 1s/, 'a budget below a second is refused');
($status, $out, $err) = lockbench(grep({ $_ ne '--quiet' } @budget[0 .. $#budget - 2]), '--budget', '2s');
like($err, qr/^lockbench: this takes about \d+ s, and less if all is decided before/m, 'the forecast is told');
like($err, qr/^\[\d+, \d+ s left\] good-lock sqlite mutex-hot: held/m, '... and how much of it is left');

# A table is one question: locks within one process are not ranked among the locks of a database.
($status, $out, $err) = lockbench('compare', '-s', "pthread-mutex,none,$fast,$slow", @short, '--repeat', '2', '--format', 'json');
my %tables = map { $_->{engine} => join ' ', sort map { $_->{strategy} } @{$_->{ranks}} }
    grep { $_->{measured} eq 'rate' } @{decode_json($out)->{rankings}};
is_deeply(\%tables, {memory => 'none pthread-mutex', sqlite => 'good-lock slow-lock'}, 'a table for each question');
($status, $out) = lockbench('compare', '-s', "pthread-mutex,$fast,$slow", @short, '-S', 'limited,mutex-hot', '--repeat', '2', '-v');
like($out =~ s/\s+/ /gr, qr/SKIP [^:]*pthread-mutex[^:]*: admits one holder per resource/, 'what cannot do it is skipped in one line');
($status, $out) = lockbench('compare', '-s', 'pthread-mutex,none', @short, '--repeat', '2');
like($out =~ s/\s+/ /gr, qr/when a holder dies: pthread-mutex, among the workers of one process only/, 'and it is told where it works');

# Each run keeps a history of its own.
($status, $out, $err) = lockbench('compare', '-s', "$fast,$slow", @timed, '--budget', '1s', '--keep-history', '-o', scratch() . '/kept',
    '--format', 'json');
is($status, 0, 'a budget that keeps its histories') or diag $err;
my @kept = map { $_->{history} } map { @{$_->{runs}} } @{decode_json($out)->{cells}};
my ($kept) = glob scratch() . '/kept/*';
cmp_ok(scalar @kept, '>=', 6, '... of three rounds at least');
is((grep { !defined $_ || !-s "$kept/$_" } @kept), 0, '... has that of each run');
is(scalar(() = glob "$kept/*.lbh"), scalar @kept, '... and no other');

# A strategy that never succeeds is run once, and not ranked.
(my $never = slurp($fast)) =~ s/good.lock/never_lock/g;
$never =~ s/^-- strategy: .*$/-- strategy: never-lock/m;
$never =~ s/^(.*SET owner = :worker WHERE)/$1 1 = 0 AND/m or die 'no statement to break';
($status, $out, $err) = lockbench('compare', '-s', "$fast,$slow," . spew('never-lock.sql', $never), @timed, '--budget', '3s',
    '--format', 'json');
$json = decode_json($out);
%n = map { $_->{strategy} => scalar @{$_->{runs}} } @{$json->{cells}};
is($n{'never-lock'}, 1, 'what never succeeds is run once');
($table) = grep { $_->{measured} eq 'rate' } @{$json->{rankings}};
is_deeply($table->{not_ranked}, ['never-lock'], '... and is not ranked');

# --- A lock that becomes slow after 700 ms has no steady state, and that is reported.
$text = slurp($fast) =~ s/good.lock/tired_lock/gr =~ s/^-- strategy: .*$/-- strategy: tired-lock/mr;
$text =~ s/owner varchar\(100\)\)/owner varchar(100), made real DEFAULT (julianday('now')), work integer)/;
$text =~ s{SET owner = :worker WHERE}{SET owner = :worker, work = CASE WHEN julianday('now') - made < 0.7 / 86400 THEN 0
    ELSE (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 30000) SELECT count(*) FROM c) END WHERE};
my @tired = ('run', '-s', spew('tired-lock.sql', $text), '--workers', '1', '--hold', '0', '--think', '0', '--duration', '1500ms',
    '--warmup', '0', '--quiet');
my $is_judged = sub { return $_[1] !~ /not judged|not_judged/ }; # not where the machine stood still
($status, $out, $err) = until_shown($is_judged, @tired);
is($status, 0, 'a lock that becomes slow') or diag $err;
like($out, qr/^steady state: 0 of 1 run, 1 (drifted|too noisy to say)$/m,
    '... has not reached a steady state (on a busy machine the noise may hide why)');
($status, $out) = until_shown($is_judged, @tired, '--format', 'json');
my $steady = decode_json($out)->{cells}[0]{runs}[0]{steady_state};
like($steady->{verdict}, qr/^(drifting|unclear)$/, '... in JSON too');
ok(defined $steady->{change}{low}, '... with the interval of the change');
($status, $out) = lockbench('run', '-s', $fast, '--duration', '100ms', '--quiet');
like($out, qr/^steady state: 0 of 1 run, 1 not judged \(the measured part is shorter than a second\)$/m, 'too short: said');

# --- A file's own lease is part of the protocol, and no other question. What --ttl asks is one. ---
(my $hour = slurp("$ENV{LB_SOURCE}/examples/shedlock.sql")) =~ s/ttl_ms = \d+/ttl_ms = 3600000/;
my @lease = ('compare', '-s', spew('hour.sql', $hour) . ',lease-upsert', '-d', 'sqlite:', '-S', 'mutex-hot', '--repeat', '2',
    '--duration', '200ms', '--warmup', '0', '-q');
(undef, $out, $err) = lockbench(@lease);
like($out, qr/^Which is the fastest\? mutex-hot on sqlite, 2 rounds$/m, 'compared with a built-in one of another lease') or diag $err;
(undef, $out) = lockbench(@lease[0, 1], 'lease-upsert', @lease[3 .. $#lease], '--ttl', '1s,2s');
unlike($out, qr/^Which is the fastest/m, '... but not one lease with another');

done_testing();
