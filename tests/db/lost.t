#!/usr/bin/env perl
# What goes wrong around a run is told: sessions that somebody ended, a worker's process that was
# killed, statements that only ever raise. On PostgreSQL, in a database of the test's own.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;
use Time::HiRes 'sleep';

my ($owner) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
plan skip_all => 'no PostgreSQL in LB_TEST_URIS' if !defined $owner;

sub sql
{
    my ($uri, $text) = @_;
    open my $pipe, '-|', 'psql', '-XAtq', '-c', $text, $uri or return;
    my @rows = <$pipe>;
    close $pipe or return;
    chomp @rows;
    return @rows;
}

my $database = "lockbench_lost_$$";
my $uri = $owner =~ s{(//[^/]*/)[^?]*}{$1$database}r;
plan skip_all => 'no right to create a database' if system('psql', '-XAtq', '-c', "CREATE DATABASE $database", $owner) != 0;
END {
    local $?;
    sql($owner, "DROP DATABASE $database WITH (FORCE)") if defined $database;
}

# Waits until the run has so many sessions of that kind, and ends them; returns how many.
sub end_sessions
{
    my ($like, $least) = @_;
    my $where = "FROM pg_stat_activity WHERE datname = '$database' AND application_name LIKE '$like'";
    for (1 .. 1000) {
        my ($n) = sql($owner, "SELECT count(*) $where");
        last if $n >= $least;
        sleep 0.01;
    }
    sleep 0.5; # the workers are at work
    return scalar sql($owner, "SELECT pg_terminate_backend(pid) $where");
}

# --- the control session ---

{
    my $run = start('run', '-s', 'row-lock', '-S', 'mutex-pair', '-d', $uri, '--guard', '--duration', '2s',
        '--warmup', '0', '--quiet');
    is(end_sessions('%control%', 1), 1, 'the control session was ended');
    my ($status, $out, $err) = finish($run);
    is($status, 0, 'a run whose control session was ended goes on') or diag $out, $err;
    is_deeply([sql($uri, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'lockbench%'")], [], 'and leaves nothing');
}

done_testing();
