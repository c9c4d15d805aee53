#!/usr/bin/env perl
# A server that goes away while a queue is drained, with --costs: one line, exit status 3, the
# numbers so far, and why the server's costs are missing. Takes minutes, as a run waits for a server
# to come back: only with LB_TEST_SOAK=1. The servers are the test's own.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;
use Time::HiRes 'sleep';

plan skip_all => 'takes minutes: set LB_TEST_SOAK=1' if !$ENV{LB_TEST_SOAK};
own_servers('--fast', 'postgres', 'mariadb');

for my $row (grep { length } servers('status')) {
    my ($name, $engine, undef, $uri) = split /\t/, $row;
    my $path = ($uri =~ /socket=([^&]*)/ ? $1 : '') =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ger;
    my $sql = sub {
        my @command = $engine eq 'postgres' ? ('psql', '-XAtqc', $_[0], $uri) : ('mariadb', '-S', $path, '-u', 'lockbench', '-Nse', $_[0]);
        open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>/dev/null', 'sh', @command or die;
        my @rows = <$pipe>;
        close $pipe;
        chomp @rows;
        return @rows;
    };
    my $run = start('run', '-s', 'skip-locked', '-d', $uri, '-S', 'drain', '--backlog', '200', '--workers', '1', '--hold', '1s', '--costs', '--warmup', '0', '--quiet');
    my $spaces = $engine eq 'postgres' ? "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'lockbench worker%'"
        : "SELECT count(*) FROM information_schema.processlist WHERE db LIKE 'lockbench\\_skip%' AND id <> CONNECTION_ID()";
    my $is_at_work = 0;
    for (1 .. 6000) {
        last if $is_at_work = ($sql->($spaces))[0];
        sleep 0.05;
    }
    ok($is_at_work, "$engine: it is at work");
    servers('halt', $name);
    my ($status, $out, $err) = finish($run);
    is($status, 3, "$engine: exit status") or diag $out;
    like($err, qr/\Alockbench: [^\n]+\n\z/, "$engine: one line");
    like($out =~ s/\s+/ /gr, qr/the server's costs are not known: the server was gone at the end of the run/, "$engine: why there are no costs");
}
done_testing();
