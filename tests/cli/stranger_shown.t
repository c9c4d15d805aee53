#!/usr/bin/env perl
# The planned tests of a file show its defect, one command each. Only with scripts/test --all: it
# waits for findings that depend on chance.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/strangers";
my ($status, $out, $err);

my @renewal = ('--steps', 'clock', '--items', '1', '--renewals', '1', '--time', '10m', '-q');
for (['visibility', 'renew=own', 0], ['visibility', 'renew=number', 1], ['visibility', 'renew=row', 1],
    ['visibility', 'renew=back', 1], ['heartbeat', 'rescue=silent', 0], ['heartbeat', 'rescue=old', 1])
{
    my ($file, $option, $expected) = @$_;
    my @rescuer = $file eq 'heartbeat' ? ('--rescuers', '1', '--workers', '1', '--rounds', '2') : ();
    ($status, $out, $err) = lockbench('explore', '-s', "$folder/$file.sql", '-d', 'sqlite:', '--opt', $option, @renewal, @rescuer);
    is($status, $expected, "$file, $option: exit status") or diag $out, $err;
    like($out, $expected ? qr/no-duplicate +violated/ : qr/no-duplicate +held/, '... by the right guarantee');
}
my @queue = ('--workers', '4', '--producers', '1', '--put-interval', '160ms', '--hold', '450ms', '--ttl', '200ms', '--duration', '1s',
    '--warmup', '0', '--renew', '60ms', '-q');
($status, $out, $err) = lockbench('run', '-s', "$folder/visibility.sql", '-d', 'sqlite:', '-S', 'queue-overrun', @queue);
unlike($out, qr{violated}, 'renewals in time: nothing is accused');
like($out, qr{^visibility +sqlite }m, '... and it was run') or diag $err;

# --- a form that has no statement for what a scenario sets ---
($status, $out) = lockbench('verify', '-s', 'fifo-poll', '--opt', 'form=published', '--faults', 'kill', '-d', 'sqlite:', '-q');
like($out, qr/# SKIP .*: no section acquire applies to sqlite with stale_ms=\d+; the nearest, in line \d+, wants --opt stale_ms=0$/m,
    'a SKIP says which option is in the way, and what to ask for');
($status, $out) = lockbench('verify', '-s', 'fifo-poll', '--opt', 'form=published', '--opt', 'stale_ms=0', '--faults', 'kill',
    '-d', 'sqlite:', '-q', '--duration', '500ms');
unlike($out, qr/no section/, '... which is run then');
like($out, qr/^(?:not )?ok \d+ - fifo-poll sqlite mutex-hot\+kill exclusive/m, '... and judged');

# --- groups, work that is begun once, and a count of permits: explored, which takes no luck ---
for (['semaphore', 'release=own', 0, 'permits', '--steps', 'clock'], ['semaphore', 'release=always', 1, 'permits', '--steps', 'clock'],
    ['grouped', 'take=alone', 0, 'group-exclusive'], ['grouped', 'take=any', 1, 'group-exclusive'],
    ['operator', 'stamp=held', 0, 'exclusive', '--steps', 'clock', '--rescuers', '1'],
    ['operator', 'stamp=made', 1, 'exclusive', '--steps', 'clock', '--rescuers', '1'],
    ['prolonged', 'renew=from-now', 0, 'recovery', '--steps', 'clock,crash', '--renewals', '2'],
    ['prolonged', 'renew=added', 1, 'recovery', '--steps', 'clock,crash', '--renewals', '2'],
    ['dead-waiter', 'seen=all', 1, 'recovery', '--steps', 'clock,crash'],
    ['own-rows', 'release=own', 0, 'owner-release', '--steps', 'clock'],
    ['own-rows', 'release=all', 1, 'owner-release', '--steps', 'clock'],
    ['takeover', 'remove=found', 0, 'exclusive', '--steps', 'clock'],
    ['takeover', 'remove=any', 1, 'exclusive', '--steps', 'clock', '--rounds', '2', '--first'],
    ['looked', 'release=asked', 0, 'exclusive', '--steps', 'clock', '--rounds', '2'],
    ['looked', 'release=looked', 1, 'exclusive', '--steps', 'clock', '--rounds', '2', '--first'],
    ['lanes', 'put=at-once', 0, 'no-loss', '--workers', '1', '--producers', '1', '--items', '1'],
    ['lanes', 'put=apart', 1, 'no-loss', '--workers', '1', '--producers', '1', '--items', '1'],
    ['at-most-once', 'after=lost', 0, 'once', '--steps', 'clock', '--rescuers', '1', '--items', '1'],
    ['at-most-once', 'after=again', 1, 'once', '--steps', 'clock', '--rescuers', '1', '--items', '1'])
{
    my ($file, $option, $expected, $guarantee, @more) = @$_;
    ($status, $out, $err) = lockbench('explore', '-s', "$folder/$file.sql", '-d', 'sqlite:', '--opt', $option, '--time', '10m', '-q', @more);
    is($status, $expected, "$file, $option: exit status") or diag $out, $err;
    like($out, $expected ? qr/$guarantee +violated/ : qr/$guarantee +held/, '... by the right guarantee');
}

for (['cleared', 'clear=all', 'clear=failed', 'no-duplicate', '-S', 'rounds', '--error', '0.3', '--free', '0', '--backlog', '60'],
    ['batch-failed', 'fail=rest', 'fail=one', 'no-duplicate', '-S', 'give-back', '--batch', '5', '--free', '0', '--error', '0.1'],
    ['group-take', 'take=many', 'take=first', 'group-exclusive', '-S', 'drain', '--batch', '2', '--groups', '3', '--backlog', '60', '--hold', '5ms'],
    ['receipts', 'match=lists', 'match=pairs', 'owner-release', '-S', 'queue-overrun', '--batch', '4', '--put-interval', '15ms',
        '--workers', '6', '--hold', '100ms', '--duration', '2s'])
{
    my ($file, $broken, $right, $guarantee, @run) = @$_;
    ($status, $out) = until_shown(sub { return $_[1] =~ /^  $guarantee, \d+ times? in/m },
        'run', '-s', "$folder/$file.sql", '-d', 'sqlite:', '--opt', $broken, '-q', @run);
    like($out, qr/^  $guarantee, \d+ times? in/m, "$file, $broken: seen");
    ($status, $out, $err) = lockbench('run', '-s', "$folder/$file.sql", '-d', 'sqlite:', '--opt', $right, '-q', @run);
    unlike($out, qr/VIOLATED/, "$file, $right: not accused") or diag $out;
}

# --- each way to end an expired hold or claim, and to leave a line: the planned test shows it. All
# at once, as most is waiting ---
my @late = map {
    my ($file, $option, $ask, $guarantee, @run) = @$_;
    my @file = ('-s', "$folder/$file.sql", '-d', 'sqlite:', '--opt', $option);
    { what => "$file, $option", ask => $ask, file => \@file, run => ['run', @file, @run, '-q'], shown => qr/^  $guarantee, \d+ times? in /m }
} (['failed-late', 'fail=number', 'fail late', 'owner-release', '-S', 'queue-overrun', '--error', '0.5'],
    ['nacked', 'nack=number', 'give back late', 'owner-release', '-S', 'queue-rescue', '--free', '0.5'],
    ['group-lease', 'end=number', 'groups late', 'group-exclusive', '-S', 'queue-overrun', '--groups', '2'],
    ['rw-lease', 'end=all', 'readers overrun', 'exclusive', '-S', 'overrun', '--shared', '0.5'],
    ['give-up', 'give=all', 'give up', 'exclusive', '-S', 'mutex-hot', '--tries', '3', '--workers', '3', '--hold', '5ms']);
# The bound begins when a limit is over: behind the first deaths there has to be time for both.
push @late, { what => 'a limit in seconds', ask => 'steady\+kill', shown => qr/^not ok \d+ - unfreed sqlite steady\+kill recovery$/m,
    file => ['-s', phased_queue('unfreed', ':rescue_s * 1000 AND id < 0', "-- option: rescue_s = 3600\n-- limit: rescue_s\n"), '-d', 'sqlite:'] };
$late[-1]{run} = ['verify', @{ $late[-1]{file} }, '--no-explore', '-q'];
$_->{started} = start(@{ $_->{run} }) for @late;
for my $late (@late) {
    (undef, $out) = lockbench('verify', @{ $late->{file} }, '--plan');
    like($out, qr/^ +\d+ $late->{ask}  /m, "$late->{what}: \"$late->{ask}\" is planned");
    ($status, $out) = finish($late->{started});
    ($status, $out) = until_shown(sub { return $_[1] =~ $late->{shown} }, @{ $late->{run} }) if $out !~ $late->{shown};
    like($out, $late->{shown}, '... and shows what breaks') or diag $out;
}
(undef, $out) = lockbench('verify', '-s', "$folder/plainjob.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^ +\d+ fail late  /m, 'also where recover takes what is over');
unlike($out, qr/groups late|give back late|give up/, '... but not what it has not');
(undef, $out) = lockbench('verify', '-s', "$folder/dead-waiter.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^ +\d+ explore\+crash  /m, 'waiters in a line die as well, also where they go by their clocks');

($status, $out) = until_shown(sub { return $_[1] =~ /^operator +sqlite +kill +\d+ +\d+ +([1-9]\d*) +\1 +0 /m },
    'run', '-s', "$folder/operator.sql", '-d', 'sqlite:', '-S', 'dead-holder', '--duration', '1s', '-q');
like($out, qr/^operator +sqlite +kill +\d+ +\d+ +([1-9]\d*) +\1 +0 /m, 'what the dead had is granted again');
($status, $out) = until_shown(sub { return $_[0] == 1 }, 'run', '-s', "$folder/operator.sql", '-d', 'sqlite:', '-S', 'dead-holder',
    '--duration', '1s', '--opt', 'stamp=made', '-q');
like($out, qr/^  exclusive, /m, 'an operator who frees young holds is seen');

(my $mute = slurp("$folder/heartbeat.sql")) =~ s/WHERE name = :process;\n\n-- name: heartbeat \[sqlite\] when beat=host/WHERE name = 'no' || :process;\n\n-- name: heartbeat [sqlite] when beat=host/;
($status, $out, $err) = until_shown(sub { return $_[0] == 5 }, 'run', '-s', spew('mute.sql', $mute), '-d', 'sqlite:', '-S', 'queue-rescue',
    '--hold', '450ms', '--renew', '50ms', '--duration', '1500ms', '-q');
is($status, 5, 'a heartbeat that never finds a row: nothing was tested') or diag $out, $err;
like($out, qr/section heartbeat found no row, (\d+) times of \1,/, '... in words');

# --- a claim that marked an item, committed that, and was refused behind it: the item comes back as from the dead ---
SKIP: {
    my ($postgres) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
    skip 'no postgres server', 6 unless defined $postgres;
    my @asked = ('-d', $postgres, '--time', '10m', '-q');
    ($status, $out) = lockbench('explore', '-s', "$folder/parted.sql", @asked);
    is($status, 0, 'with a lease: exit status') or diag $out;
    like($out, qr/^  no-loss +held/m, '... and what every claim was told of is claimed');
    my @drain = ('-d', $postgres, '-S', 'drain', '--backlog', '200', '--workers', '4', '--hold', '2ms', '-q');
    ($status, $out) = until_shown(sub { return $_[1] =~ /^  no-loss: some items were not claimed again: claims /m }, 'run', '-s', "$folder/parted.sql", @drain);
    like($out, qr/^not tested .*\n  no-loss: some items were not claimed again: claims /m, '... in a run: not tested');
    unlike($out, qr/VIOLATED/, '... and not accused');
    (my $never = slurp("$folder/parted.sql")) =~ s/, until_ms = :now \+ :ttl_ms|state < 2 AND until_ms <= :now| AND until_ms > :now/$& =~ m{<} ? 'state = 0' : ''/ge;
    my $file = spew('never.sql', $never);
    ($status, $out) = lockbench('explore', '-s', $file, @asked);
    like($out, qr/^  no-loss +violated/m, 'without one: lost') or diag $never;
    ($status, $out) = until_shown(sub { return $_[1] =~ /VIOLATED no-loss/ }, 'run', '-s', $file, @drain);
    like($out, qr/VIOLATED no-loss/, '... in a run, too');
}

done_testing();
