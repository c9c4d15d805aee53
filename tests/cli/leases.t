#!/usr/bin/env perl
# The length of a lease, and the limit of a recovery, for a user's file: --opt goes first, then
# --ttl and the scenario, then the file's default. The used value is reported. A claim that does not
# name its item is refused.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $strangers = "$ENV{LB_SOURCE}/tests/strangers";

# The options that the first run of a command was made with, and its answer about them.
sub used
{
    my (@args) = @_;
    my ($status, $out, $err) = lockbench('run', @args, '-d', 'sqlite:', '--format', 'json', '-q');
    my $result = eval { decode_json($out) } or diag "@args: $status $err";
    my $cell = $result->{cells}[0];
    return ($cell->{runs}[0]{options}, $cell->{config}{ttl_ns} / 1e6, $status);
}

my @short = ('--duration', '300ms', '--warmup', '0');
my @some = ('--duration', '10m', '--count', '20', '--warmup', '0');
my $lease = "$strangers/ex-shedlock-noowner.sql";
my ($options, $ttl_ms) = used('-s', $lease, @short);
is("$options $ttl_ms", 'ttl_ms=30000 30000', 'nobody says anything: the default of the file');
($options, $ttl_ms) = used('-s', $lease, @short, '--ttl', '150ms');
is("$options $ttl_ms", 'ttl_ms=150 150', '--ttl goes before the default of the file');
($options, $ttl_ms) = used('-s', $lease, @short, '-S', 'overrun');
is("$options $ttl_ms", 'ttl_ms=300 300', 'so does the scenario');
($options, $ttl_ms) = used('-s', $lease, @short, '-S', 'overrun', '--ttl', '1s', '--opt', 'ttl_ms=777');
is("$options $ttl_ms", 'ttl_ms=777 777', '--opt goes before both, and the scenario goes by it');

my ($status, $out) = until_shown(sub { return $_[0] == 1 }, 'verify', '-s', $lease, '-d', 'sqlite:', '-S', 'overrun', '-q');
is($status, 1, 'a release without an owner is seen, although the file has a lease of 30 s');
like($out, qr/^not ok \d+ - shedlock sqlite overrun owner-release$/m, 'by name');

# A limit that only recover uses is no lease.
my $rescue = "$strangers/plainjob.sql";
($options) = used('-s', $rescue, @short, '-S', 'queue-overrun', '--recover', '20ms');
is($options, 'timeout_ms=200', 'an option that only recover has is its limit');
($options) = used('-s', $rescue, @short, '-S', 'queue-overrun', '--recover', '20ms', '--opt', 'timeout_ms=5000');
is($options, 'timeout_ms=5000', '... and --opt goes before the scenario');

my @kills = ('-S', 'steady', '--faults', 'kill', '-q');
# Verdicts on dead workers are withheld if the machine stood still.
my $is_said = sub { return $_[0] != 0 || $_[1] !~ /recovery # SKIP/ };
($status, $out) = until_shown($is_said, 'verify', '-s', phased_queue('ttl', ':ttl_ms'), '-d', 'sqlite:', @kills);
is($status, 0, ':ttl_ms in recover alone makes no lease of a queue: nothing is stuck') or diag $out;
like($out, qr/^ok \d+ - ttl sqlite steady\+kill recovery$/m, 'and its recovery is run');

my $seconds = phased_queue('seconds', ':rescue_s * 1000', "-- option: rescue_s = 3600\n-- limit: rescue_s\n");
($options) = used('-s', $seconds, @short, '-S', 'queue-overrun', '--ttl', '1500ms');
is($options, 'rescue_s=2', 'a limit in seconds is rounded up to whole ones');
my $minutes = phased_queue('minutes', ':age * 60000', "-- option: age = 60\n-- limit: age in min\n");
($options) = used('-s', $minutes, @short, '-S', 'queue-overrun');
is($options, 'age=1', 'a unit that the name does not have is told');

# --- what is done twice though the protocol holds ---
# Each hold is three leases long: while one worker has an item, another gets it.
my $is_taken = sub { return $_[1] =~ /"items_taken": ?[1-9]/ };
(undef, my $told) = until_shown($is_taken, 'run', '-s', 'lease-queue', '-d', 'sqlite:', '-S', 'steady', '--ttl', '20ms',
    '--hold', '60ms', '--workers', 3, '--duration', '700ms', '--warmup', 0, '--format', 'json', '-q');
my $twice = eval { decode_json($told) };
my $run = $twice ? $twice->{cells}[0]{runs}[0] : {};
my ($items, $claims) = @{ $run->{measures} // {} }{qw(items_taken items_taken_claims)};
cmp_ok($items // 0, '>', 0, 'items that a lease took from the living are counted') or diag $told;
cmp_ok($claims // 0, '>=', 2 * ($items // 1), '... with how often they were claimed');
like(join("\n", @{ $run->{warnings} // [] }), qr/^$items items? (?:was|were) claimed $claims times: .* were alive/m,
    '... and told beside the verdict');

# A drain that such holds keep from its end has an end, and is no result; it is drained if no worker
# came in between.
(undef, $told) = lockbench('run', '-s', 'lease-queue', '-d', 'sqlite:', '-S', 'drain', '--ttl', '20ms', '--hold', '200ms',
    '--workers', 4, '--backlog', 3, '--duration', '500ms', '--format', 'json', '-q');
$twice = eval { decode_json($told) } // {};
my $is_drained = ($twice->{cells}[0]{guarantees}{'no-loss'}{verdict} // '') eq 'held';
is($twice->{cells}[0]{runs}[0]{state}, $is_drained ? 'complete' : 'invalid', 'a drain that cannot end is no result') or diag $told;
like($twice->{cells}[0]{runs}[0]{reason} // '', $is_drained ? qr/^$/ : qr/: a hold of 200 ms outlasts the lease of 20\.0 ms; make --ttl/,
    '... for that reason');

# The items of a claim that are ended together are in hand until the work on the last of them is
# done. The advice is not to wait longer if that takes longer than the lease, unless the lease is
# renewed.
for (['not renewed', qr/: the work on a claim of 5 items, 100 ms, outlasts the lease of 50\.0 ms, and others claim them meanwhile; see --ttl, --batch, --renew$/m],
    ['renewed', qr/in the time that there was; see --duration$/m, '--renew', '20ms']) {
    my ($name, $want, @more) = @$_;
    (undef, $told) = lockbench('run', '-s', 'lease-queue', '-d', 'sqlite:', '-S', 'drain', '--ttl', '50ms', '--hold', '20ms',
        '--opt', 'ends=batch', '--batch', 5, '--workers', 4, '--backlog', 4000, '--duration', '500ms', '--format', 'json', '-q', @more);
    $twice = eval { decode_json($told) } // {};
    like(join("\n", @{ $twice->{cells}[0]{runs}[0]{warnings} // [] }), $want, "a drain by claims whose lease is $name") or diag $told;
}

# --- mistakes ---
my @bad = (
    ['-- limit: nothing',                       qr/:4: limit: "nothing" is neither an option of this file nor ttl_ms/],
    ["-- option: form = a | b\n-- lease: form", qr/:5: lease: option form is no length of time: its default is "a"/],
    ['-- lease: ttl_ms in fortnights',          qr/:4: lease: write "NAME", "NAME in ms" \(or s, min\), or "none", or "fixed"/],
    ["-- lease: ttl_ms\n-- lease: ttl_ms",      qr/:5: lease: given twice \(line 4\)/],
    ['-- leese: ttl_ms',                        qr/:4: unknown directive "leese:"; did you mean "lease:"\?/],
);
for my $case (@bad) {
    my ($header, $message) = @$case;
    my ($status, undef, $err) = lockbench('run', '-s', phased_queue('bad', ':ttl_ms', "$header\n"), @short);
    is($status, 2, "refused: $header");
    like($err, $message, '... with file and line');
}
($status, undef, my $err) = lockbench('lint', "$strangers/django-noid.sql");
is($status, 2, 'a claim whose answer has no id is refused');
like($err, qr/django-noid\.sql:32: section claim: the statement that answers returns no column id/, '... by file and line');

# --- a lease too short to be known of ---
for my $uri ('sqlite:', split /\n/, $ENV{LB_TEST_URIS} // '') {
    next if $uri !~ /^(?:sqlite:$|postgres|mariadb|mysql)/;
    my ($kind) = $uri =~ /^(\w+)/;
    for my $ttl ('500us', '1ms', '3ms') {
        ($status, my $out, $err) = lockbench('run', '-s', 'lease-upsert', '-d', $uri, '-S', 'mutex-hot', '--ttl', $ttl, @short, '-q');
        is($status, 2, "$kind: --ttl $ttl is a mistake, and no violation") or diag $out;
        like($err, qr/ttl: .* is below what .* can tell: .*; give at least \d+ms$/m, '... with the least that can be');
    }
    my ($least) = $err =~ /at least (\d+)ms/;
    ($status, my $out, $err) = lockbench('run', '-s', 'lease-upsert', '-d', $uri, '-S', 'mutex-hot', '--ttl',
        4 * ($least // 4) . 'ms', @some, '-q');
    is($status, 0, "$kind: four times that is run") or diag $out, $err;
}
($status) = lockbench('run', '-s', 'cas', '-S', 'steady', '--ttl', '1ms', @some, '-q');
is($status, 0, 'where nothing is a lease it does not matter');

# A renewal that is never answered may hold for no longer, and no shorter, than it asked for: it is noted before it is sent.
my $kept = scratch() . '/renewed';
lockbench('run', '-s', 'lease-update-safe', '-d', 'sqlite:', '--ttl', '700ms', '--hold', '30ms', '--renew', '5ms', '--duration', '10m',
    '--count', '3', '--warmup', '0', '-q', '--keep-history', '-o', $kept);
my ($history) = glob "$kept/*/history.lbh";
($status, $out) = lockbench('check', $history, '--export', 'jsonl');
my @asked = grep { $_->{f} eq 'renew' && $_->{type} eq 'invoke' } map { decode_json($_) } split /\n/, $out;
cmp_ok(scalar @asked, '>', 0, 'a lease was renewed');
is_deeply([grep { ($_->{arg} // 0) != 700 } @asked], [], '... and each renewal says for how long it asks');

# Acquire compares no time: only recover frees what the dead hold. A schedule without one shows nothing of the guarantee.
my @silent = ('explore', '-s', "$ENV{LB_SOURCE}/tests/strangers/silent.sql", '-d', 'sqlite:', '--steps', 'clock,crash', '-q');
my ($silent, $said) = lockbench(@silent);
like($said, qr/^ +exclusive +held$/m, 'a lock that only recover frees: explored');
like($said, qr/^ +recovery +not tested: only recover frees what a dead worker holds: run -S dead-holder tests it$/m, '... and recovery is not accused');
($silent, $said) = lockbench('verify', '-s', "$ENV{LB_SOURCE}/tests/strangers/silent.sql", '-d', 'sqlite:', '-S', 'dead-holder', '-q');
like($said, qr/^ok \d+ - silent sqlite dead-holder recovery$/m, '... a run, which recovers, tests it');

done_testing();
