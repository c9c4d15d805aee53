#!/usr/bin/env perl
# verify --matrix: strategies down, engines and isolation levels across, no cell empty.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my ($lock, $door, $queue) = (good_lock(), open_door(), good_queue());
my @targets = ('sqlite:', grep { /^(?:postgres|mariadb)/ } split /\n/, $ENV{LB_TEST_URIS} // '');
my %columns = (sqlite => 1, postgresql => 3, mariadb => 3);
my $n_columns = 0;
$n_columns += $columns{s/:.*//r} for @targets;
my @short = ('--matrix', '--duration', '10m', '--count', '30', '--warmup', '0', '--hold', '1ms', '--quiet', '--seed', '7');
my $picky = spew('picky.sql', "-- isolation: read committed\n" . slurp($lock) =~ s/good-lock/picky/r);

# The rows of a Markdown table as lists of cells.
sub rows { return map { [map { s/^\s+|\s+$//gr } (split /\|/)[1 .. tr/|// - 1]] } grep { /^\|/ } split /\n/, $_[0] }

my ($status, $out, $err) = lockbench('verify', '-s', "$lock,$door,$picky,none", @short, map { ('-d', $_) } @targets);
is($status, 1, 'a violation that nobody knows of') or diag $err;
like($out, qr/^    lockbench verify --matrix -s \S+ -d sqlite: .*--duration 10m --count 30.* --seed 7$/m, 'the command');
unlike($out, qr/password|:[0-9a-f]{32}\@/, 'without passwords');
my ($locks, $memory) = $out =~ /^## Locks\n(.*)^## Without a database\n(.*)/ms;
my ($head, undef, @rows) = rows($locks);
is(scalar @$head, 1 + $n_columns, 'a column for each level of each target');
is(scalar(grep { /^SQLite 3\.\d+\S*<br>serializable \(default\)$/ } @$head), 1, 'its title has version and level');
is(scalar(grep { /\(default\)$/ } @$head), scalar @targets, 'each target has one default');
my %row = map { $_->[0] => $_ } @rows;
is_deeply([sort keys %row], ['`good-lock`', '`open-door`', '`picky`'], 'a row for each strategy');
is(scalar(grep { @$_ != @$head || grep { $_ eq '' } @$_ } @rows), 0, 'no cell is empty');
is(scalar(grep { $_ eq 'held' } @{$row{'`good-lock`'}}), $n_columns, 'held at every level');
my @notes = grep { /\*\*VIOLATED\*\* \[\d+\]$/ } @{$row{'`open-door`'}};
is(scalar @notes, $n_columns, 'violated at every level');
for my $cell (@notes) {
    my ($n) = $cell =~ /\[(\d+)\]/;
    like($locks, qr/^$n\. `open-door`, exclusive: \*\*not known to be broken\*\*\.$/m, "note $n says which hazard");
}
my ($folded) = $locks =~ m{^<details><summary>Witnesses</summary>\n\n(.*)^</details>$}ms;
my @witnesses = $folded =~ /^   - ([A-Z]\S+ \d.*: violated \d+ times in \d+, in mutex-hot: .*worker \d+.*)$/mg;
is(scalar @witnesses, $n_columns, 'a witness of each, folded away');
is(scalar(grep { /^\d+\. `open-door`/ } split /\n/, $locks =~ s/<details>.*//sr), 1, 'one hazard is one line');
my @skips = grep { /^SKIP \[\d+\]$/ } @{$row{'`picky`'}};
is(scalar @skips, $n_columns - grep({ !/^sqlite/ } @targets), 'a level that the strategy does not ask for is a SKIP');
is((rows($memory))[2][1], 'violated [1]', 'a control is a known break');
like($memory, qr/^1\. `none`, exclusive: there is no lock\.$/m, 'and its note says why');

($status, $out) = lockbench('verify', '-s', "$queue,none", @short, '--backlog', '40', '--format', 'json');
is($status, 0, 'as expected') or diag $out;
my $json = decode_json($out);
is($json->{schema}, 'lockbench-matrix', 'json: the schema');
is(join(' ', map { "$_->{engine}/" . ($_->{isolation} // '-') } @{$json->{columns}}), 'sqlite/serializable memory/-', 'json: columns');
my ($good, $none) = @{$json->{rows}}[0, 1];
($good, $none) = ($none, $good) if $good->{strategy} eq 'none';
is($good->{entries}[0]{verdict}, 'held', 'json: held');
is($good->{entries}[0]{guarantees}{'no-loss'}{expectation}, 'kept', 'json: by guarantee');
is($none->{entries}[0]{column}, 1, 'json: an entry names its column');
like($none->{entries}[0]{guarantees}{exclusive}{witness}, qr/worker \d+/, 'json: the witness');

# A single hold: a known break has had no chance to show.
my @hasty = ('-s', 'release-unowned', '-d', 'sqlite:', '-S', 'overrun', '--workers', '1', '--duration', '10m', '--count', '1', '--quiet', '--seed', '7');
($status, $out) = lockbench('verify', '--matrix', @hasty);
is($status, 1, 'a known break that did not show');
like($out, qr/^\| `release-unowned` \(control\) \| not caught \[1\] \[2\] \|$/m, 'is not caught, and not held');
like($out, qr/^1\. .*, exclusive: \*\*known to be broken, but not caught\*\* in \d+ tested in overrun: a late release/m, 'and why');
($status, $out) = lockbench('verify', '--matrix', @hasty, '--format', 'json');
my $entry = decode_json($out)->{rows}[0]{entries}[0];
is($entry->{verdict}, 'not caught', 'json: the same');
like($entry->{reason}, qr/^exclusive is known to be broken, but was not caught in \d+ tested in overrun: /, 'json: and why');
($status, $out) = lockbench('run', @hasty);
like($out, qr/^release-unowned +sqlite +not caught /m, 'text: the same');
like($out, qr/^not caught release-unowned on sqlite, overrun\n  exclusive is known to be broken/m, 'text: and why');

# If no worker outlasts its lease the break cannot show.
my (undef, $even) = lockbench('verify', @hasty, '--overrun', '0');
like($even, qr/^ok 1 - release-unowned sqlite overrun exclusive$/m, 'a break whose cause was switched off is not missed') or diag $even;

# The run ends long before the bound: the known break at a death was not tested, though the rest held.
my @early = ('verify', '--matrix', '-s', 'lease-unread', '-d', 'sqlite:', '-S', 'mutex-hot,dead-holder', '--duration', '2s', '--recovery-bound', '10m', '--quiet', '--seed', '7');
(undef, $out) = lockbench(@early);
like($out, qr/^\| `lease-unread` \(control\) \| not tested \[1\] \|\n\n1\. not tested: the run ended before/m, 'a known break that was not tested is not held') or diag $out;
(undef, $out) = lockbench(@early, '--format', 'json');
$entry = decode_json($out)->{rows}[0]{entries}[0];
is($entry->{verdict}, 'not tested', 'json: the same');
like($entry->{reason}, qr/^the run ended before/, 'json: and why');

($status, $out) = lockbench('verify', '-s', $lock, @short, '--isolation', 'read-committed');
is($status, 5, 'one level, that nothing can be asked at');
like($out, qr/^\| `good-lock` \| SKIP \[1\] \|\n\n1\. skipped: SQLite does not tell read committed/m, 'that the engine has not: a SKIP');
($status, undef, $err) = lockbench('verify', '-s', $lock, @short, '--format', 'tap');
is($status, 2, 'a format that is no table');
like($err, qr/unknown format 'tap'.*\(markdown, json\)/, 'names those that are');

# Servers beside each other: a column for each, at its default level, with the name where two have one version.
($status, $out, $err) = lockbench('verify', '-s', $lock, @short, '--isolation', 'default', '-d', 'strict=sqlite:?synchronous=full', map { ('-d', $_) } @targets);
is($status, 0, 'by server') or diag $err;
($head, undef, @rows) = rows($out);
is(scalar @$head, 2 + @targets, 'a column for each server');
is(scalar(grep { /\(default\)$/ } @$head), 1 + @targets, '... at its default level');
is(scalar(grep { /^SQLite 3\.\d+\S*<br>/ } @$head), 1, 'the one without a name');
is(scalar(grep { /^SQLite 3\.\d+\S* \(strict\)<br>/ } @$head), 1, '... and the one with a name');
is(scalar(grep { $_ eq 'held' } @{$rows[0]}), 1 + @targets, 'each has a verdict');

# A name does not hide the engine, on which a break is known.
my ($postgres) = grep { /^postgres/ } @targets;
if (defined $postgres) {
    ($status, $out, $err) = lockbench('verify', '-s', 'count-gate', '--matrix', '-q', '--isolation', 'default', '-d', "named=$postgres");
    is($status, 0, 'a known break on a server with a name') or diag $out, $err;
    unlike($out, qr/VIOLATED\*\* \[/, '... is not called unknown');
}

done_testing();
