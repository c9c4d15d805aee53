#!/usr/bin/env perl
# A server that hangs: its processes exist, but do not answer. A run and an exploration with a
# request to end do end, and name their remains. It takes half a minute: only with LB_TEST_SOAK=1. The
# servers are the test's own.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;
use Time::HiRes qw(sleep time);

plan skip_all => 'takes minutes: LB_TEST_SOAK=1 asks for it' if !$ENV{LB_TEST_SOAK};
own_servers('--fast', 'postgres', 'mariadb');
my @stopped;
END { local $?; kill CONT => @stopped; }

sub family { my ($pid) = @_; return ($pid, map { family($_) } split ' ', `pgrep -P $pid`) }

my %runs;
my @rows = map { [split /\t/] } grep { length } servers('status');
for my $row (@rows) {
    my ($name, undef, undef, $uri) = @$row;
    for my $command (['run', '-s', 'row-lock', '-S', 'mutex-hot', '--duration', '10m', '--warmup', '0'],
        ['explore', '-s', good_lock(), '--workers', '3', '--rounds', '20', '--time', '60m']) {
        $runs{"$name, $command->[0]"} = start(@$command, '-d', $uri, '--quiet');
    }
}
# At work: the server has sessions of theirs that have begun.
for my $what (sort keys %runs) {
    my $pid = $runs{$what}{pid};
    my $is_busy = 0;
    for (1 .. 6000) {
        last if slurp("/proc/$pid/stat") =~ /\) Z/;
        my ($user, $system) = (split ' ', (slurp("/proc/$pid/stat") =~ s/.*\) //sr))[11, 12];
        $is_busy = $user + $system > 10 and last;
        sleep 0.05;
    }
    ok($is_busy, "$what: it is at work") or diag slurp($runs{$what}{err});
}
@stopped = map { family($_->[4] =~ s/\s//gr) } @rows;
kill STOP => @stopped;
sleep 1;
kill TERM => map { $_->{pid} } values %runs;
my $start = time;
for my $what (sort keys %runs) {
    my $pid = $runs{$what}{pid};
    my $has_ended = 0;
    while (time - $start < 300 && !$has_ended) {
        $has_ended = !-e "/proc/$pid" || slurp("/proc/$pid/stat") =~ /\) Z/;
        sleep 0.1;
    }
    ok($has_ended, "$what: it ended");
    note sprintf "after %.0f s", time - $start;
    kill KILL => $pid if !$has_ended;
    my ($status, undef, $err) = finish($runs{$what});
    like($status, $what =~ /run/ ? qr{^130\z} : qr{^(?:3|130)\z}, "$what: exit status") or diag $err;
    unlike($err, qr/lockbench:.*\n.*lockbench:/s, "$what: at most one line");
    like($err, qr/the server does not answer/, "$what: no connection is tried any more") if $what =~ /run/;
    note $err;
}
done_testing();
