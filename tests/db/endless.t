#!/usr/bin/env perl
# A statement that never returns, in each engine and in the parts of a run that wait for it: --time and a signal end it,
# with the exit status that they have, and nothing is left behind. A time is nowhere asserted: what did not end without
# a bound on statements does not end before the test gives it up.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use POSIX ':sys_wait_h';
use Test::More;
use Time::HiRes 'sleep';

my $seconds = 100000 + $$ % 100000; # tells this test's statements from others'
my %target = (sqlite => 'sqlite:');
for my $uri (split /\n/, $ENV{LB_TEST_URIS} // '') {
    $target{postgres} //= $uri if $uri =~ /^postgres/;
    $target{mariadb} //= $uri if $uri =~ /^(?:mariadb|mysql)/ && $uri =~ /socket=/;
}
my ($socket) = ($target{mariadb} // '') =~ /socket=([^&]*)/;
$socket =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge if defined $socket;
my %endless = (
    sqlite => 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n',
    postgres => "SELECT pg_sleep($seconds)",
    mariadb => "SELECT SLEEP($seconds)");

sub lock_with
{
    my ($engine, $place) = @_;
    my %sql = (setup => "CREATE TABLE endless (name varchar(100) PRIMARY KEY, owner varchar(100))",
        acquire => 'UPDATE endless SET owner = :worker WHERE name = :resource AND owner IS NULL',
        release => 'UPDATE endless SET owner = NULL WHERE name = :resource AND owner = :worker');
    $sql{$place} = $place eq 'setup' ? "$sql{setup};\n$endless{$engine}" : $endless{$engine};
    return spew("endless-$engine-$place.sql", <<"SQL");
-- strategy: endless-$engine-$place
-- shape: lock
-- claims: exclusive
-- name: setup
$sql{setup};
-- name: resource
INSERT INTO endless (name) VALUES (:resource);
-- name: acquire
$sql{acquire};
-- name: release
$sql{release};
-- name: teardown
DROP TABLE endless;
SQL
}

# How many of them the server executes now.
sub n_executed
{
    my ($engine) = @_;
    my @command = $engine eq 'postgres'
        ? ('psql', '-XAtqc', "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%sleep($seconds)' AND pid <> pg_backend_pid()", $target{postgres})
        : ('mariadb', '-S', $socket, '-u', 'lockbench', '-Nse', "SELECT count(*) FROM information_schema.processlist WHERE info LIKE '%SLEEP($seconds)' AND id <> connection_id()");
    open my $pipe, '-|', @command or die "$command[0]: $!";
    chomp(my $n = <$pipe> // 0);
    close $pipe;
    return $n;
}

# A process that does nothing else works on it when it has used so much CPU.
sub is_at_it
{
    my ($pid) = @_;
    my @fields = split ' ', slurp("/proc/$pid/stat") =~ s/.*\) //sr;
    return @fields < 13 || $fields[11] + $fields[12] > 30;
}

# Ends by itself within a minute and a half: else it is killed, and that is its status.
sub ends
{
    my ($run) = @_;
    for (1 .. 900) {
        my $pid = waitpid $run->{pid}, WNOHANG;
        return ($? & 127 ? 128 + ($? & 127) : $? >> 8, slurp($run->{out}), slurp($run->{err})) if $pid != 0;
        sleep 0.1;
    }
    kill 'KILL', $run->{pid};
    return finish($run);
}

# [name, signals, exit status, command]
sub cases_of
{
    my ($engine) = @_;
    my ($acquire, $setup) = map { lock_with($engine, $_) } 'acquire', 'setup';
    return (
        ['explore --time', 0, 5, 'explore', '-s', $acquire, '--time', '200ms'],
        ['explore, one signal', 1, 130, 'explore', '-s', $acquire],
        ['explore, two signals', 2, 130, 'explore', '-s', $acquire],
        ['run, one signal in set-up', 1, 130, 'run', '-s', $setup, '--duration', '1h'],
        ['compare, two signals in set-up', 2, 130, 'compare', '-s', $setup, '--duration', '1h', '--repeat', '2'],
        ['run, one signal', 1, 130, 'run', '-s', $acquire, '-S', 'mutex-hot', '--workers', '2', '--duration', '1h']);
}

my @runs;
for my $engine (sort keys %target) {
    for my $case (cases_of($engine)) {
        my ($name, $n_signals, $wanted, @command) = @$case;
        push @runs, { name => "$engine, $name", engine => $engine, n_signals => $n_signals, wanted => $wanted,
            run => start(@command, '-d', $target{$engine}, '--quiet') };
    }
}
for my $engine (sort keys %target) {
    my @pids = map { $_->{run}{pid} } grep { $_->{engine} eq $engine && $_->{n_signals} > 0 } @runs;
    ok(wait_for(sub { $engine eq 'sqlite' ? !grep { !is_at_it($_) } @pids : n_executed($engine) > @pids }), "$engine: they execute it");
}
for my $n (1, 2) {
    sleep 0.5 if $n > 1; # two signals at once may come as one
    kill 'TERM', map { $_->{run}{pid} } grep { $_->{n_signals} >= $n } @runs;
}
for my $one (@runs) {
    my ($status, $out, $err) = ends($one->{run});
    is($status, $one->{wanted}, "$one->{name}: exit status") or diag $out, $err;
    # The address sanitizer adds a line of its own.
    cmp_ok(scalar(grep { !/WARNING: ASan doesn't fully support/ } split /^/m, $err), '<=', 1, '... and at most one line') or diag $err;
    like($out, qr/exclusive +not tested: no schedule came to its end/, '... and no verdict') if $one->{n_signals} == 0;
}
is(n_executed($_), 0, "$_: the server executes none any more") for grep { $_ ne 'sqlite' } sort keys %target;
is_deeply([glob scratch() . '/lockbench-*'], [], 'nothing is left behind');
done_testing();
