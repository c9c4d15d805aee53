#!/usr/bin/env perl
# The session that conducts a run is lost: while the tables are made, while the server's costs are taken, and while
# everything is dropped. The run goes on with another, and leaves nothing behind. A trigger of the server's ends the
# session at its first statement of a kind, so that nothing depends on timing.
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
my ($uri) = own_database($owner) or plan skip_all => 'no right to create a database';

sub sql
{
    my ($at, $text) = @_;
    open my $pipe, '-|', 'psql', '-XAtq', '-c', $text, $at or return;
    my @rows = <$pipe>;
    close $pipe or return;
    chomp @rows;
    return @rows;
}

# Ends the session of each such statement for the first N times; a sequence counts, which no
# rollback takes back.
sub end_at
{
    my ($event, $tag, $times) = @_;
    system('psql', '-XAtq', '-c', <<"SQL", $uri) == 0 or die 'no event trigger';
SET client_min_messages = error;
DROP SEQUENCE IF EXISTS lb_test_n CASCADE;
CREATE SEQUENCE lb_test_n;
CREATE OR REPLACE FUNCTION lb_test_end() RETURNS event_trigger LANGUAGE plpgsql AS \$\$
BEGIN IF nextval('public.lb_test_n') <= $times THEN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(600); END IF; END \$\$;
DROP EVENT TRIGGER IF EXISTS lb_test;
CREATE EVENT TRIGGER lb_test ON $event WHEN TAG IN ('$tag') EXECUTE FUNCTION lb_test_end();
SQL
}

sub left { return join ' ', sql($uri, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'lockbench%'") }

my @run = ('run', '-s', 'row-lock', '-d', $uri, '--workers', '2', '--warmup', '0', '--quiet', '--format', 'json');
for my $case (['the tables are made', 'ddl_command_start', 'CREATE TABLE'], ['all is dropped', 'ddl_command_start', 'DROP SCHEMA']) {
    my ($when, $event, $tag) = @$case;
    end_at($event, $tag, 2);
    my ($status, $out, $err) = lockbench(@run, '--count', '20', '--duration', '0', '--progress-bound', '10m');
    my ($n) = sql($uri, 'SELECT last_value FROM lb_test_n');
    cmp_ok($n // 0, '>=', 3, "the session was lost twice while $when");
    is($status, 0, '... exit status') or diag $err;
    is($err, '', '... nothing to say');
    is(eval { decode_json($out)->{cells}[0]{runs}[0]{state} } // 'none', 'complete', '... the run is complete');
    system 'psql', '-XAtq', '-c', 'DROP EVENT TRIGGER lb_test', $uri;
    is(left(), '', '... nothing is left');
}

# While the workers run, all other sessions are ended: that of the costs, of the watchdog, of the
# mark.
my $results = scratch() . '/results';
my $run = start(@run, '--costs', '--duration', '20s', '--progress-bound', '10m', '-o', $results);
my $n = 0;
for (1 .. 6000) {
    my ($workers) = sql($uri, "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'lockbench worker%' AND datname = current_database() AND query ~* 'row_lock|locks?'");
    last if ($workers // 0) >= 2;
    sleep 0.05;
}
($n) = sql($uri, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE 'lockbench%' AND application_name NOT LIKE 'lockbench worker%' AND datname = current_database()");
my ($status, $out, $err) = finish($run);
SKIP: {
    skip 'the machine was too slow: the run was over before', 4 if !$n;
    is($status, 0, 'with costs, and sessions that were ended: exit status') or diag $err;
    is($err, '', '... nothing to say');
    my $one = eval { decode_json($out)->{cells}[0]{runs}[0] } // {};
    is($one->{state} // 'none', 'complete', '... the run is complete');
    ok($one->{server_costs} && %{$one->{server_costs}}, "... and has the server's costs");
}
is(left(), '', '... nothing is left');
done_testing();
