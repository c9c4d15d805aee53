#!/usr/bin/env perl
# The owner of a schema, and whether its run lives. Only a dead run's schema is dropped: one that
# merely looks like it stays, and a run whose sessions the server has ended goes on with its schema.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

# Servers of its own: it ends all sessions and counts all schemas, those of other tests too.
my ($given) = ($ENV{LB_TEST_URIS} // '') =~ /^(?:postgres|mariadb)/m ? 1 : 0;
plan skip_all => 'no PostgreSQL and no MariaDB in LB_TEST_URIS' if !$given;
my @kinds = grep { ($ENV{LB_TEST_URIS} // '') =~ /^\Q$_\E/m } 'postgres', 'mariadb';
my @uris = own_servers('--fast', @kinds);
my ($pg) = grep { /^postgres/ } @uris;
my ($my) = grep { /^mariadb/ } @uris;
is(scalar grep({ defined } $pg, $my), scalar @kinds, "servers of its own: @kinds");

my ($socket) = ($my // '') =~ /socket=(.*)/;
$socket =~ s/%(..)/chr hex $1/ge if defined $socket;
my %sql = (
    postgres => sub { my ($text) = @_; my $out = qx(PGOPTIONS='-c client_min_messages=warning' psql -XAtq -v ON_ERROR_STOP=1 -c "$text" '$pg'); chomp $out; return $out },
    mariadb => sub { my ($text) = @_; my $out = qx(mariadb -N -B --user=lockbench --socket='$socket' -e "$text"); chomp $out; return $out },
);
my %uri = (postgres => $pg, mariadb => $my);
my $spaces = "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'lockbench\\_%' ORDER BY 1";
my $own = '-c search_path=pg_catalog';
my $short = good_lock();
sub another { my ($engine) = @_; return (lockbench('run', '-s', $short, '-d', $uri{$engine}, '--count', '5', '--duration', '0', '--progress-bound', '10m', '--warmup', '0', '--quiet'))[0] }

for my $engine (grep { defined $uri{$_} } qw(postgres mariadb)) {
    my $ask = $sql{$engine};
    my $is_pg = $engine eq 'postgres';
    my $mark = 'lockbench: ' . ($is_pg ? 'schema' : 'database') . ' of one run, dropped at its end';
    # [name, run in the comment, run in the table, machine, age in seconds, is it dropped?]
    my @cases = (
        ['an older program\'s mark', undef, undef, '', 0, 0],
        ['a mark, no entry', 'aa', undef, '', 0, 0],
        ['another run\'s entry', 'aa', 'bb', 'elsewhere', 100_000, 0],
        ['another name\'s entry', 'aa', 'aa', 'elsewhere', 100_000, 0, 'lockbench_other'],
        ['young, of another machine', 'aa', 'aa', 'elsewhere', 400, 0],
        ['old, of another machine', 'aa', 'aa', 'elsewhere', 800, 1],
    );
    push @cases, ['a copy, with another oid', 'aa', 'aa', 'elsewhere', 100_000, 0, undef, 1] if $is_pg;
    for my $case (@cases) {
        my ($name, $comment, $entry, $machine, $age, $is_dropped, $named, $oid) = @$case;
        my $text = $mark . (defined $comment ? "; run $comment" : '');
        $named //= 'lockbench_theirs';
        if ($is_pg) {
            $ask->("CREATE SCHEMA lockbench_theirs; COMMENT ON SCHEMA lockbench_theirs IS '$text'");
            $ask->("CREATE TABLE lockbench_theirs.lockbench_run AS SELECT '$entry'::text AS run, '$named'::text AS space, "
                . (defined $oid ? '1::bigint' : 'oid::bigint') . " AS oid, '$machine'::text AS machine, 1::bigint AS pid, "
                . "1::bigint AS start, now() - interval '$age s' AS seen FROM pg_namespace WHERE nspname = 'lockbench_theirs'")
                if defined $entry;
        } else {
            $ask->("CREATE DATABASE lockbench_theirs COMMENT '$text'");
            $ask->("CREATE TABLE lockbench_theirs.lockbench_run AS SELECT '$entry' AS run, '$named' AS space, "
                . "'$machine' AS machine, 1 AS pid, 1 AS start, UTC_TIMESTAMP() - INTERVAL $age SECOND AS seen")
                if defined $entry;
        }
        $ask->('CREATE TABLE lockbench_theirs.precious (x integer)');
        is(another($engine), 0, "$engine: $name: another run");
        is($ask->($spaces), $is_dropped ? '' : 'lockbench_theirs', "$engine: $name: " . ($is_dropped ? 'dropped' : 'stays'));
        $ask->($is_pg ? 'DROP SCHEMA IF EXISTS lockbench_theirs CASCADE' : 'DROP DATABASE IF EXISTS lockbench_theirs');
    }

    # The server ends every session of a run, the one that marks its schema too: the run opens them again.
    my $sessions = $is_pg ? "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'lockbench %'"
        : "SELECT count(*) FROM information_schema.processlist WHERE user = 'lockbench' AND id <> connection_id()";
    my $marks = $is_pg ? "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1279419758 AND granted"
        : "SELECT count(*) FROM information_schema.schemata WHERE schema_name LIKE 'lockbench\\_%' AND IS_USED_LOCK(schema_name) IS NOT NULL";
    my $run = start('run', '-s', $short, '-d', $uri{$engine}, '--workers', '2', '--duration', '10m', '--progress-bound', '10m', '--warmup', '0', '--quiet');
    for (1 .. 6000) { last if $ask->($sessions) >= 4; select undef, undef, undef, 0.05 }
    my $space = $ask->($spaces);
    like($space, qr/\Alockbench_good_lock_[0-9a-f]{12}\z/, "$engine: sessions ended: the run has a schema");
    if ($is_pg) {
        $ask->("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'lockbench %'");
    } else {
        $ask->("KILL $_") for split /\n/, $ask->("SELECT id FROM information_schema.processlist WHERE user = 'lockbench' AND id <> connection_id()");
    }
    is(another($engine), 0, "$engine: sessions ended: another run");
    is($ask->($spaces), $space, "$engine: sessions ended: the schema is still there");
    for (1 .. 6000) { last if $ask->($marks) == 1; select undef, undef, undef, 0.05 }
    is($ask->($marks), 1, "$engine: sessions ended: marked again");
    kill 'INT', $run->{pid};
    my ($status, $out, $err) = finish($run);
    is($status, 130, "$engine: sessions ended: the run goes on to its end") or diag $out, $err;
    is($ask->($spaces), '', "$engine: sessions ended: and drops its schema");

    # Somebody drops the schema, with the session that marks it: the run says that.
    $run = start('run', '-s', 'advisory-session', '-d', $uri{$engine}, '--workers', '2', '--duration', '10m', '--progress-bound', '10m', '--warmup', '0', '--quiet', '--no-guard');
    for (1 .. 6000) { last if $ask->($sessions) >= 4; select undef, undef, undef, 0.05 }
    $space = $ask->($spaces);
    if ($is_pg) {
        $ask->("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lockbench space'; DROP SCHEMA $space CASCADE");
    } else {
        my $marking = $ask->("SELECT is_used_lock('$space')");
        $ask->("DROP DATABASE $space; KILL $marking");
    }
    ($status, $out, $err) = finish($run);
    is($status, 3, "$engine: dropped by somebody: exit status") or diag $out;
    like("$out$err" =~ s{\s+}{ }gr, qr/our marking session was ended: the \w+ \Q$space\E is gone: another user dropped it/, "$engine: dropped by somebody: it is told") or diag $out, $err;

    # The control session is lost while the set-up runs: it begins again.
    # It is slow while there is a table that the test has made.
    my $waits = $is_pg ? q{SELECT pg_sleep(600) FROM pg_tables WHERE tablename = 'lb_slow';}
        : q{SELECT sleep(600) FROM information_schema.tables WHERE table_name = 'lb_slow';};
    $ask->('CREATE TABLE ' . ($is_pg ? 'public' : 'lockbench') . '.lb_slow (x integer)');
    my $slow = spew('slow-setup.sql', slurp($short) =~ s/good-lock/slow-setup/r =~ s/(-- name: setup\n)/$1$waits\n/r);
    $run = start('run', '-s', $slow, '-d', $uri{$engine}, '--workers', '2', '--count', '5', '--duration', '0', '--progress-bound', '10m', '--warmup', '0', '--quiet');
    my $control = $is_pg ? "SELECT pid FROM pg_stat_activity WHERE application_name = 'lockbench control' AND query LIKE '%pg_sleep%' AND state = 'active'"
        : "SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT sleep%' AND id <> connection_id()";
    my $pid = '';
    for (1 .. 6000) { $pid = $ask->($control); last if $pid ne ''; select undef, undef, undef, 0.02 }
    $ask->('DROP TABLE ' . ($is_pg ? 'public' : 'lockbench') . '.lb_slow');
    $ask->($is_pg ? "SELECT pg_terminate_backend($pid)" : "KILL $pid");
    ($status, $out, $err) = finish($run);
    is($status, 0, "$engine: control session lost in the set-up: begun again") or diag $out, $err;
    is($ask->($spaces), '', "$engine: control session lost in the set-up: nothing is left");
}

# A role whose idle sessions are ended.
SKIP: {
    skip 'no PostgreSQL in LB_TEST_URIS', 4 if !defined $pg;
    my $run = start('run', '-s', $short, '-d', $pg . "&options=-c%20idle_session_timeout%3D300", '--workers', '2', '--duration', '10m', '--progress-bound', '10m', '--warmup', '0', '--quiet', '--poll', '1ms');
    my $space = '';
    for (1 .. 6000) { $space = $sql{postgres}->($spaces); last if $space =~ /^lockbench_good_lock_\w+\z/; select undef, undef, undef, 0.05 }
    # The server's log says when it has ended one.
    my $is_ended = sub { return slurp(scratch() . "/servers/pg15/log") =~ /terminating connection due to idle-session timeout/ };
    for (1 .. 6000) { last if $is_ended->(); select undef, undef, undef, 0.05 }
    ok($is_ended->(), 'idle sessions end: one has');
    is(another('postgres'), 0, 'idle sessions end: another run');
    is($sql{postgres}->($spaces), $space, 'idle sessions end: the schema is still there');
    kill 'INT', $run->{pid};
    my ($status, $out, $err) = finish($run);
    is($status, 130, 'idle sessions end: the run holds') or diag $out, $err;
}
done_testing();
