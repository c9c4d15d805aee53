#!/usr/bin/env perl
# A clock that is set while a run is under way ends leases early. That is no violation of the protocol: the
# guarantee is not tested, the run is inconclusive, and the reason names the clock. A violation that came before
# stands. libfaketime sets the clocks, again and again from the middle of the run on, so that no hold is spared.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use POSIX ();
use Test::More;

my ($faketime) = glob '/usr/lib/*/faketime/libfaketimeMT.so.1';
plan skip_all => 'no libfaketime' if !defined $faketime;

# The environment of a program whose clock is ahead by the number in the file.
my $stamp = scratch() . '/stamp';
my %faked = (LD_PRELOAD => $faketime, FAKETIME_TIMESTAMP_FILE => $stamp, FAKETIME_NO_CACHE => 1,
    DONT_FAKE_MONOTONIC => 1, FAKETIME_DONT_FAKE_MONOTONIC => 1);

sub set_ahead
{
    my ($seconds) = @_;
    spew('stamp.new', "+$seconds\n");
    rename scratch() . '/stamp.new', $stamp or die "$stamp: $!\n";
}

# A run, while the clock is set ahead by an hour again and again, and never back. after: seconds until then.
my $hours = 0;
sub run_beside_steps
{
    my ($is_own_clock, @args) = @_;
    my $after = ref $args[0] ? (shift @args)->{after} : 0.8;
    local %ENV = (%ENV, $is_own_clock ? %faked : ());
    my $run = start('run', '--warmup', '0', '--quiet', @args);
    my $stepper = fork // die "fork: $!\n";
    if ($stepper == 0) {
        select undef, undef, undef, $after;
        for (;;) {
            select undef, undef, undef, 0.05;
            set_ahead(3600 * ++$hours);
        }
    }
    my @ended = finish($run);
    kill 'KILL', $stepper;
    waitpid $stepper, 0;
    $hours = slurp($stamp) / 3600;
    return @ended;
}

set_ahead(0);
{
    local %ENV = (%ENV, %faked);
    own_servers('--fast', 'postgres', 'mariadb');
}
my @lease = ('-s', 'lease-upsert', '-S', 'mutex-hot', '--workers', '3', '--ttl', '2s', '--hold', '200ms', '--duration', '2s');
my @job = ('-s', 'lease-update-safe', '-S', 'periodic-job', '--duration', '2s');
my @recurring = ('-s', 'lease-queue', '--opt', 'recurring=yes', '-S', 'recurring-checkout', '--backlog', '30', '--period', '1s', '--duration', '3s');
my @stale = ('-s', 'fifo-poll-safe', '-S', 'mutex-hot', '--workers', '6', '--ttl', '2s', '--stale', '2s', '--hold', '50ms', '--poll', '5ms', '--duration', '2s');
my @targets = (['sqlite:', "this machine's"], map { [$_, "the server's"] } map { (split /\t/)[3] } grep { length } servers('status'));
for my $target (@targets) {
    my ($uri, $whose) = @$target;
    my $is_own_clock = $uri eq 'sqlite:';
    my ($engine) = $uri =~ /^(\w+)/;
    my $reason = join '\s+', split / /, 'clock was set [\d.]+ \w+ ahead, seen at [\d.]+ \w+: later violations may be due to it';
    $reason = qr/\Q$whose\E\s+$reason/;
    my ($status, $out, $err) = run_beside_steps($is_own_clock, '-d', $uri, @lease);
    is($status, 5, "$engine, a lease: exit status") or diag $out, $err;
    like($out, qr/^inconclusive lease-upsert [^\n]*\n\s+$reason/m, '... inconclusive, by that clock') or diag $out, $err;
    unlike($out, qr/^VIOLATED/m, '... and no violation');
    ($status, $out, $err) = run_beside_steps($is_own_clock, '-d', $uri, @job);
    is($status, 5, "$engine, a periodic job: exit status") or diag $out, $err;
    like($out, qr/^schedule not tested [^\n]*\n\s+not judged: $reason/m, '... its schedule is not judged') or diag $out, $err;
    # From here on the engine makes no difference; and since when a server's clock is another one is not known.
    next if !$is_own_clock;
    for (['recurring work', @recurring], ['requests that get stale', @stale]) {
        my ($name, @args) = @$_;
        ($status, $out, $err) = run_beside_steps($is_own_clock, '-d', $uri, @args);
        is($status, 5, "$engine, $name: exit status") or diag $out, $err;
        like($out, qr/^inconclusive [^\n]*\n\s+$reason/m, '... inconclusive') or diag $out, $err;
    }
    # A violation before that.
    ($status, $out, $err) = run_beside_steps($is_own_clock, { after => 3 }, '-d', $uri, '-s', open_door(), '-S', 'mutex-hot', '--workers', '3', '--hold', '200ms', '--duration', '4s');
    is($status, 1, "$engine, a lock that is broken from the start: exit status") or diag $out, $err;
    like($out, qr/^VIOLATED \S+ [^\n]*\n\s+exclusive/m, '... is violated');
    like($out, qr/^warning \S+ [^\n]*\n\s+$reason/m, '... beside a warning of the clock');
}

# The stored history knows of the clock.
my $dir = scratch() . '/stored';
my ($status, $out, $err) = run_beside_steps(1, '-d', 'sqlite:', @lease, '-o', $dir, '--keep-history');
my ($history) = glob "$dir/*/*.lbh*";
($status, $out) = lockbench('check', $history // 'none');
is($status, 5, 'check of its history: exit status');
like($out, qr/exclusive[^\n]*not tested[^\n]*this machine's clock was set/, '... not tested, by that clock') or diag $out, $err;

# The clock stands still: the same lease is held.
($status, $out) = lockbench('run', '--warmup', '0', '--quiet', @lease);
is($status, 0, 'a clock that nobody sets: exit status') or diag $out;
unlike($out, qr/clock was set/, '... and no word of it');

# libfaketime leaves the memory of killed processes behind.
servers('stop');
for (glob '/dev/shm/*faketime_*') {
    unlink $_ if /_(\d+)$/ && !kill 0, $1;
}
done_testing();
