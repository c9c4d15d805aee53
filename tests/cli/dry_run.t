#!/usr/bin/env perl
# --dry-run prints the planned runs and touches nothing; and the options taken from pgbench, and
# --json, mean the long ones.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $scratch = scratch();
my $lock = good_lock();

# A server that is not there is not missed, and neither file nor directory is made.
my ($status, $out, $err) = lockbench('compare', '-s', "$lock,row-lock", '-d', 'postgresql://nobody@127.0.0.1:1/none',
    '-d', "sqlite:$scratch/none.db", '-S', 'mutex-hot', '--workers', '2,4', '--duration', '30s', '--warmup', '1s', '--repeat', '4',
    '-o', "$scratch/results", '--format', "csv:$scratch/out.csv", '--dry-run');
is($status, 0, '--dry-run: exit status') or diag $err;
is($err, '', '... without a word on stderr');
like($out, qr/^good-lock +postgres +mutex-hot\[workers=4\] +4 +4 +30\.0 s after 1\.00 s of warm-up$/m, '... each cell');
like($out, qr/^row-lock +sqlite +mutex-hot\S* +\d+ +0 +SKIP row-lock has no statements for SQLite/m, '... what cannot run, and why');
like($out, qr/^6 cells, 24 runs, which take about 12 min 24 s$/m, '... and the sum: 24 times 31 s');
ok(!-e "$scratch/$_", "... $_ was not made") for 'none.db', 'results', 'out.csv';
for my $case ([['compare', '-s', 'cas,skip-locked', '-S', 'drain', '--budget', '5m'], qr/^2 cells, in rounds until all is decided: about 5 min 0 s at most$/m],
    [['compare', '-s', 'cas', '-S', 'drain', '--repeat', '2'], qr/^1 cell, 2 runs, which take as long as the work takes$/m],
    [['plan', '-s', 'fifo-poll', '--duration', '10s', '--warmup', '0', '--workers', '1,2,4,8,16,32', '--slo', 'p99<1s'],
        qr/^fifo-poll +sqlite +mutex-hot\[workers=16\] +16 +3 +10\.0 s\n.*^6 cells, 18 runs, which take about 3 min 0 s; more runs may follow/ms],
    [['verify', '-s', 'fifo-poll', '-S', 'mutex-pair', '--faults', 'kill,pause'], qr/^fifo-poll +sqlite +mutex-pair\+pause /m],
    [['run', '-s', $lock, '--count', '100', '--warmup', '0'], qr/\b100 operations of each worker$/m]) {
    ($status, $out, $err) = lockbench(@{$case->[0]}, '--dry-run');
    is($status, 0, "@{$case->[0]}: exit status") or diag $err;
    like($out, $case->[1], '... says so');
}
($status, undef, $err) = lockbench('run', '-s', 'no-such-lock', '--dry-run');
is($status, 2, 'what is wrong is wrong there, too');
($status, undef, $err) = lockbench('compare', '-s', $lock, '--dry-run', '--resume', $scratch);
like($err, qr/^lockbench: option --dry-run: not together with --resume\n\z/, 'not with --resume');

# What compare takes without a name: no control, and nothing published that is known to be broken.
for my $case ([[], 0], [['-s', 'queues,locks'], 0], [['--published'], 1]) {
    ($status, $out) = lockbench('compare', @{$case->[0]}, '--dry-run');
    like($out, qr/^lease-upsert +sqlite +mutex-hot /m, "compare @{$case->[0]}: a correct lock");
    like($out, qr/^skip-locked +sqlite +drain /m, '... a correct queue');
    unlike($out, qr/^(?:naive-claim|read-then-write|pthread-mutex) /m, '... no control');
    is($out =~ /^fifo-poll +sqlite/m && $out =~ /^skip-locked\[form=in\]/m ? 1 : 0, $case->[1], '... and those that are known to be broken');
    is($out =~ /^lease-update |\[|mutex-pair/m ? 1 : 0, $case->[1], '... with the scenarios and options that break them');
}
# The load selects the scenario of a queue; it is stated in the same way for each command.
my @load = ('-s', 'skip-locked', '--rate', '300/s', '--hold', '5ms', '--workers', '20', '--dry-run');
for my $command ('run', 'compare') {
    ($status, $out, $err) = lockbench($command, @load);
    is("$status$err", '0', "$command: a load is taken without a scenario");
    like($out, qr/^skip-locked +sqlite +steady /m, '... and items arrive');
}
($status, $out) = lockbench('run', '-s', 'skip-locked', '--producers', 2, '--dry-run');
like($out, qr/^skip-locked +sqlite +steady /m, 'producers: items arrive');
($status, undef, $err) = lockbench('run', @load, '-S', 'drain');
is($status, 2, 'a backlog has no arrivals');
like($err, qr/rate: drain has no producers, who put the arrivals: use -S steady, or leave -S out/, '... and what to do is said');

# One of several that makes use of a key is enough.
for my $case (['compare', '-s', "$lock,lease-upsert", '--overrun', '0.5', '--ttl', '300ms'], ['verify', '-s', 'all', '--stale', '1s'],
    ['compare', '-s', "$lock,lease-upsert", '--renew', '1s'], ['verify', '-s', 'queues', '--renew', '1s'], ['run', '-s', $lock, '--renew', '0'],
    ['run', '-s', $lock, '--stale', '300ms']) {
    ($status, $out, $err) = lockbench(@$case, '--dry-run');
    is("$status$err", '0', "@$case: taken");
}

# For a script: as JSON, with --json or jsonl.
my @shown = ('-s', 'row-lock,lease-upsert', '-d', 'sqlite:', '-d', 'postgresql://nobody:hush@127.0.0.1:1/none', '-S', 'mutex-hot', '--dry-run');
for my $case ([['compare', @shown, '--duration', '30s', '--warmup', '1s', '--repeat', '4', '--json'], 372],
    [['verify', @shown, '--duration', '30s', '--warmup', '1s', '--repeat', '4', '--format', 'json'], 372],
    [['run', '-s', $lock, '--duration', '5s', '--warmup', '0', '--format', 'jsonl'], 5],
    [['plan', '-s', $lock, '--workers', '1,2,4,8,16,32', '--duration', '5s', '--warmup', '0', '--json'], 90],
    [['verify', '-s', 'lease-upsert', '--matrix', '--dry-run', '--json'], undef]) {
    ($status, $out, $err) = lockbench(@{$case->[0]}, '--dry-run');
    is("$status$err", '0', "@{$case->[0]}: exit status, and nothing on stderr");
    my $told = eval { decode_json($out) };
    is(ref $told, 'HASH', '... is JSON') or next;
    is($out =~ tr/\n//, 1, '... on one line') if grep { $_ eq 'jsonl' } @{$case->[0]};
    unlike($out, qr/hush/, '... without a password');
    ok($told->{dry_run}, '... is marked');
    is($told->{total_ns} / 1e9, $case->[1], '... the sum') if defined $case->[1];
    is($told->{n_runs}, $told->{repeat} * grep({ !defined $_->{skipped} } @{ $told->{cells} }), '... and the runs');
}
($status, $out) = lockbench('compare', @shown, '--duration', '30s', '--warmup', '1s', '--repeat', '4', '--json');
is_deeply([map { [@{$_}{qw(strategy engine target scenario workers runs duration_ns warmup_ns)}, defined $_->{skipped} ? 'skipped' : ''] } @{ decode_json($out)->{cells} }],
    [['row-lock', 'sqlite', 'sqlite:', 'mutex-hot', 8, 0, 30e9, 1e9, 'skipped'], ['row-lock', 'postgres', 'postgresql://nobody@127.0.0.1:1/none', 'mutex-hot', 8, 4, 30e9, 1e9, ''],
        ['lease-upsert', 'sqlite', 'sqlite:', 'mutex-hot', 8, 4, 30e9, 1e9, ''],
        ['lease-upsert', 'postgres', 'postgresql://nobody@127.0.0.1:1/none', 'mutex-hot', 8, 4, 30e9, 1e9, '']], '... each cell') or diag $out;
($status, $out) = lockbench('compare', '-s', 'cas,skip-locked', '-S', 'drain', '--budget', '5m', '--dry-run', '--json');
is_deeply([@{ decode_json($out) }{qw(budget_ns total_ns runs_are_least total_is_least)}, @{ decode_json($out)->{cells}[0] }{qw(duration_ns items)}],
    [300e9, 300e9, JSON::PP::true, JSON::PP::false, undef, 1000], '... with a budget, of work that ends by itself');

# pgbench's letters.
($status, $out, $err) = lockbench('run', '-s', $lock, '-c', 3, '-j', 3, '-T', '0.5', '-R', 40, '-P', '100ms', '--warmup', '0', '--json');
ok($status == 0 || $status == 5, 'pgbench: exit status (a busy machine is late)') or diag $err;
my $config = decode_json($out)->{cells}[0]{config};
is_deeply([map { $config->{$_} } 'workers', 'threads', 'duration_ns', 'rate'], [3, 3, 500_000_000, '40/s'], '-c -j -T -R');
like($err, qr{^progress: \[1/1\] good-lock sqlite mutex-hot, [\w -]+: \d+\.\d s, \S+/s}m, '-P');
($status, $out) = lockbench('run', '-s', $lock, '-T', '300ms', '-R', 'poisson:30', '--warmup', '0', '-q', '--json');
is_deeply([map { decode_json($out)->{cells}[0]{config}{$_} } 'duration_ns', 'rate'], [300_000_000, 'poisson:30/s'], 'units are taken as well');
for my $bad ([['-c', 'x'], qr/option --workers: 'x' is not a count/], [['-T', ''], qr/option --duration/], [['-R', '0'], qr/option --rate/],
    [['-P', 'x'], qr/option --progress: 'x' is not a time above 0, such as 5s/], [['-P', '0'], qr/option --progress/],
    [['-P', '1', '-q'], qr/option --progress: not together with --quiet/], [['--json', '--format', 'csv'], qr/both go to standard output/]) {
    ($status, $out, $err) = lockbench('run', '-s', $lock, @{$bad->[0]});
    is($status, 2, "@{$bad->[0]}: exit status");
    like($err, qr/^lockbench: .*$bad->[1].*\n\z/, '... says why');
}

# --json is --format json.
for my $case (['list', 'engines'], ['check', '--model', 'mutex', spew('h.jsonl', '')], ['diff', 'a', 'b'], ['explore', '-s', $lock]) {
    my (undef, $long, $long_err) = lockbench(@$case, '--format', 'json');
    (undef, my $short, $err) = lockbench(@$case, '--json');
    s/"\w*(?:_ns|seconds|_s|seed|ms|audited)": [\d.]+//g for $long, $short;
    is("$short$err", "$long$long_err", "$case->[0] --json");
}
($status, undef, $err) = lockbench('list', '--json', '--format', 'text');
like($err, qr/^lockbench: option --json: not together with --format text\n\z/, 'one format at a time');
done_testing();
