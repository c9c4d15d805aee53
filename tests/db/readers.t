#!/usr/bin/env perl
# Readers, writers and a limit above 1 in one line: a reader waits for every writer ahead of it, and a
# writer for every reader. A heartbeat and the grant that follows it are one transaction.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my %uri = (sqlite => 'sqlite:');
for my $uri (split /\n/, $ENV{LB_TEST_URIS} // '') {
    $uri{postgres} //= $uri if $uri =~ /^postgres/;
    $uri{mariadb} //= $uri if $uri =~ /^(?:mariadb|mysql)/;
}

for my $engine (sort keys %uri) {
    my @run = ('run', '-s', 'fifo-poll-safe', '-d', $uri{$engine}, '-S', 'mutex-hot', '--warmup', '0', '--format',
        'json', '--quiet', '--count', '20', '--duration', '0', '--progress-bound', '10m');
    for my $more (['--capacity', '2', '--shared', '0.5'], ['--capacity', '3', '--shared', '0.2'], ['--stale', '10m']) {
        my ($status, $out, $err) = lockbench(@run, @$more);
        is($status, 0, "$engine: @$more") or diag $out, $err;
        my $guarantees = eval { decode_json($out) }->{cells}[0]{guarantees};
        is($guarantees->{$_}{verdict}, 'held', "$engine: @$more: $_") for qw(exclusive fenced);
    }
}

# Requests that are removed by their age: a worker that waits longer loses its own, and is let in.
# The printed reason is this, and not the order in which numbers commit. Each of the many holders
# outlasts the limit, so that one shows it even if others are not run for a while.
for my $engine (sort keys %uri) {
    my @run = ('run', '-s', 'fifo-poll', '-d', $uri{$engine}, '-S', 'mutex-hot', '--stale', '100ms', '--workers', '8',
        '--hold', '150ms', '--poll', '5ms', '--poll-max', '10ms', '--warmup', '0', '--count', '3', '--duration', '0', '--quiet');
    my ($status, $out) = lockbench(@run);
    is($status, 1, "$engine: fifo-poll --stale: violated");
    like($out =~ s/\s+/ /gr, qr/Known: polls delete what is older than the limit/, "$engine: ... with its reason");
    unlike($out =~ s/\s+/ /gr, qr/another order than they were drawn/, "$engine: ... and not another's");
}

done_testing();
