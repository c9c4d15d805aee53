#!/usr/bin/env perl
# A clock that is not the system's. It would be waited for without an end, and no number would be right.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

plan skip_all => 'no faketime' if system('faketime -f +0 true 2>/dev/null') != 0;

# The limit ends what would never end; nothing is measured by it.
sub faked
{
    my ($how, @args) = @_;
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', 'timeout', '-s', 'KILL', '900', 'faketime', '-f', $how, $ENV{LOCKBENCH}, @args or die;
    my $out = join '', <$pipe>;
    close $pipe;
    return ($? & 127 ? 128 + ($? & 127) : $? >> 8, $out);
}

my @run = ('run', '-s', 'pthread-mutex', '--duration', '10m', '--count', '10', '--warmup', '0', '--quiet');
my %clocks = (stopped => '+0 x0', slow => '+0 x0.01', fast => '+0 x100', 'a day behind' => '-1d', 'a day ahead' => '+1d');
for my $name (sort keys %clocks) {
    for my $args (\@run, ['verify', '-s', 'pthread-mutex', '--duration', '50ms'], ['explore', '-s', good_lock(), '-d', 'sqlite:']) {
        next if $args->[0] ne 'run' && $name ne 'stopped';
        my ($status, $out) = faked($clocks{$name}, @$args);
        is($status, 3, "$args->[0], a clock that is $name: exit status");
        like($out, qr/\Alockbench: the monotonic clock is not the system's: [^\n]+\n\z/, "... and one line");
    }
}
# The advice helps; and commands that measure nothing are not refused.
local $ENV{FAKETIME_DONT_FAKE_MONOTONIC} = 1;
local $ENV{DONT_FAKE_MONOTONIC} = 1;
my ($status, $out) = faked('-1d', @run);
is($status, 0, 'only the wall clock is another: the run is as ever') or diag $out;
delete local @ENV{qw(FAKETIME_DONT_FAKE_MONOTONIC DONT_FAKE_MONOTONIC)};
($status, $out) = faked('+0 x0', 'list', 'scenarios');
is($status, 0, 'list needs no clock');
done_testing();
