#!/usr/bin/env perl
# --metrics: the data that Prometheus fetches during runs; a port in use; and only this machine is
# served.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use HTTP::Tiny;
use Lockbench;
use Test::More;

my ($status, $out, $err) = lockbench('run', '-s', good_lock(), '--metrics', '0', '--count', '1', '--duration', '10m', '-q');
plan skip_all => 'built without libmicrohttpd' if $status == 3 && $err =~ /built without libmicrohttpd/;
is($status, 0, 'a port that is free') or diag $err;
my $address = qr{http://127\.0\.0\.1:(\d+)/metrics};
like($err, qr/^lockbench: metrics at $address\n\z/, '... is named, even with -q');

for my $bad ('0.0.0.0:0', '192.0.2.1:0', '[::]:0', 'x', ':1', '::1:0', '65536', '-1', '127.0.0.1:', 'localhost:1x') {
    ($status, $out, $err) = lockbench('run', '-s', good_lock(), '--metrics', $bad);
    is($status, 2, "--metrics $bad: exit status");
    like($err, qr/^lockbench: option --metrics: '\Q$bad\E' is not \[HOST:\]PORT of this machine, .*\n\z/, '... and one line');
}

# Two cells with the same waits for an end that does not come: they are asked while they run.
my $run = start('run', '-s', open_door(), '-S', 'mutex-hot', '--metrics', 'localhost:0', '--duration', '30m', '--warmup', '0', '--hold', '1ms');
my ($url, $port);
ok(wait_for(sub { ($url, $port) = slurp($run->{err}) =~ /metrics at (\S+:(\d+)\S+)\n/; return $url }), 'the address is told first');
my $http = HTTP::Tiny->new(timeout => 600);
my $names = 'strategy="open-door",engine="sqlite",scenario="mutex-hot"';
my %value;
my $fetch = sub {
    my $answer = $http->get($url);
    return 0 if !$answer->{success};
    %value = $answer->{content} =~ /^(\w+(?:\{[^}]*\})?) (\S+)$/mg;
    spew('said.txt', $answer->{content});
    return ($value{"lockbench_successes_total{$names}"} // 0) > 100 && ($value{"lockbench_overlaps_total{$names}"} // 0) > 0
        && ($value{"lockbench_wait_seconds_count{$names}"} // 0) > 0 && ($value{"lockbench_running{$names,phase=\"running\"}"} // 0) == 1;
};
ok(wait_for($fetch), 'a run is seen going on, with its overlaps') or diag slurp(scratch() . '/said.txt');
is($value{"lockbench_workers{$names}"}, 8, '... its workers');
is($value{"lockbench_wait_seconds_bucket{$names,le=\"+Inf\"}"}, $value{"lockbench_wait_seconds_count{$names}"}, '... its waits');
my $before = $value{"lockbench_successes_total{$names}"};
ok(wait_for(sub { $fetch->(); return $value{"lockbench_successes_total{$names}"} > $before }), '... and goes on');
is($http->get($url =~ s/metrics$//r)->{status}, 404, 'there is nothing else');
is($http->post($url)->{status}, 405, '... and nothing is taken');
SKIP: {
    my ($promtool) = grep { -x } map { "$_/promtool" } split /:/, $ENV{PATH};
    skip 'no promtool (Debian: prometheus)', 2 if !defined $promtool;
    my $said = scratch() . '/said.txt';
    is(`'$promtool' check metrics <'$said' 2>&1`, '', 'promtool has nothing to say');
    is($?, 0, '... and takes it');
}

($status, $out, $err) = lockbench('run', '-s', good_lock(), '--metrics', $port, '--count', '1', '-q');
is($status, 3, 'a port that is in use: exit status');
like($err, qr/^lockbench: option --metrics: cannot listen at $port: Address already in use; .*\n\z/, '... and one line');
is($out, '', '... and nothing is run');
kill 'INT', $run->{pid};
($status) = finish($run);
is($status, 130, 'the run is ended');
is($http->get($url)->{status}, 599, 'nobody listens any more');
done_testing();
