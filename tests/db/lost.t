#!/usr/bin/env perl
# Problems around a run are reported: sessions that another user ended, a worker's process that was
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

my ($uri, $database) = own_database($owner) or plan skip_all => 'no right to create a database';

# Waits for an event for as long as any machine may take.
sub until_is
{
    my ($event) = @_;
    for (1 .. 6000) {
        return 1 if $event->();
        sleep 0.05;
    }
    return 0;
}

# How often the lock of each run was granted, where it has its table: see counted.sql.
sub granted
{
    my @schemas = sql($uri, "SELECT schemaname FROM pg_tables WHERE tablename = 'counted_lock'");
    return map { (sql($uri, "SELECT n FROM $_.counted_lock"))[0] // 0 } @schemas;
}
sub at_work { my $n = (granted())[0] // 0; return until_is(sub { ((granted())[0] // 0) > $n + 4 }) }

# Ends the sessions of that kind once the workers are at work; then waits until they are at work
# again, with N new sessions, and ends the run. Returns how many sessions there were.
sub end_sessions
{
    my ($run, $like, $new) = @_;
    my $where = "FROM pg_stat_activity WHERE datname = '$database' AND application_name LIKE '$like'";
    my $count = sub { return (sql($owner, "SELECT count(*) $where"))[0] // 0 };
    ok(at_work(), 'the workers are at work');
    my @old = map { /^(\d+)\|t$/ ? $1 : () } sql($owner, "SELECT pid, pg_terminate_backend(pid) $where");
    ok(until_is(sub { !sql($owner, "SELECT 1 $where AND pid IN (" . join(',', 0, @old) . ')') }), 'the sessions are gone');
    ok(until_is(sub { $count->() >= $new }), 'and there are as many again');
    ok(at_work(), 'and at work again');
    kill INT => $run->{pid};
    return scalar @old;
}

# A lock that counts its grants, where a test can see them.
my $counted = spew('counted.sql', <<'SQL');
-- strategy: counted
-- shape: lock
-- claims: exclusive

-- name: setup
CREATE TABLE counted_lock (name varchar(100) PRIMARY KEY, n bigint);
-- name: resource
INSERT INTO counted_lock (name, n) VALUES (:resource, 0);
-- name: acquire tx=hold
UPDATE counted_lock SET n = n + 1 WHERE name = :resource;
-- The commit is the release.
-- name: release
-- name: teardown
DROP TABLE counted_lock;
SQL
my @counted = ('-s', $counted, '-S', 'mutex-pair', '-d', $uri, '--duration', '10m', '--warmup', '0', '--quiet');

# --- the control session ---

{
    my $run = start('run', @counted, '--guard');
    is(end_sessions($run, '%control%', 0), 1, 'the control session was ended');
    my ($status, $out, $err) = finish($run);
    is($status, 130, 'a run whose control session was ended goes on') or diag $out, $err;
    is_deeply([sql($uri, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'lockbench%'")], [], 'and leaves nothing');
}

# --- sessions ---

# The one run's warnings in JSON, TAP and text.
sub warnings
{
    my ($out) = @_;
    my $json = eval { decode_json($out) } or return 'no JSON';
    return join "\n", @{ $json->{cells}[0]{runs}[0]{warnings} // ['no run'] };
}

for my $format ('json', 'text', 'tap') {
    my $run = start('run', @counted, '--format', $format);
    is(end_sessions($run, '%worker%', 2), 2, "$format: the workers' sessions were ended");
    my ($status, $out, $err) = finish($run);
    is($status, 130, "$format: the run goes on") or diag $err;
    $out = warnings($out) if $format eq 'json';
    like($out =~ s/\s+/ /gr, qr/2 sessions were ended .* (?:terminating connection|closed the connection)/, "$format: and it is told")
        or diag $out;
}

# --- a process ---

# Side by side, since their time has to be over: longer than any stall.
{
    my %run = map { $_ => start('run', @counted, '--duration', '15s', '--processes', '2', '--format', $_) } qw(json tap);
    ok(until_is(sub { 2 == grep { $_ > 4 } granted() }), 'the workers are at work');
    for my $format (sort keys %run) {
        my @children = split ' ', `ps -o pid= --ppid $run{$format}{pid}`;
        is(kill(KILL => $children[0]), 1, "$format: a worker's process was killed");
    }
    for my $format (sort keys %run) {
        my ($status, $out, $err) = finish($run{$format});
        is($status, 5, "$format: its numbers do not hold") or diag $err;
        $out = warnings($out) if $format eq 'json';
        like($out, qr/the process of worker [01] was killed by signal 9 at \d/, "$format: and why") or diag $out;
    }
}

# --- errors ---

my %raises = (
    'raises-acquire' => [q{SELECT raise_it(:worker)}, qr/P0001 .*no lock today/],
    'raises-duplicate' => [q{SELECT raise_unique(:worker)}, qr/23505 .*taken already/],
    'ends-itself' => [q{SELECT pg_terminate_backend(pg_backend_pid()), :worker::text}, qr/terminating connection/],
);
for my $name (sort keys %raises) {
    my ($acquire, $wanted) = @{ $raises{$name} };
    my $file = spew("$name.sql", <<"SQL");
-- strategy: $name
-- shape: lock
-- claims: exclusive, owner-release

-- name: setup
CREATE TABLE raises_lock (name varchar(100) PRIMARY KEY, owner varchar(100));
CREATE FUNCTION raise_it(who text) RETURNS int LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no lock today''; END';
CREATE FUNCTION raise_unique(who text) RETURNS int LANGUAGE plpgsql AS 'BEGIN RAISE unique_violation USING MESSAGE = ''taken already''; END';
-- name: resource
INSERT INTO raises_lock (name) VALUES (:resource);
-- name: acquire
$acquire;
-- name: release
UPDATE raises_lock SET owner = NULL WHERE name = :resource AND owner = :worker;
SQL
    my ($status, $out, $err) = lockbench('verify', '-s', $file, '-d', $uri, '-S', 'mutex-pair', '--count', '3', '--tries',
        '3', '--duration', '0');
    is($status, 3, "$name: an error") or diag $out;
    like("$out$err", $wanted, "$name: with the server's text");
    like($out, qr/^not ok/m, "$name: a line that is not ok");
    unlike($out, qr/^ok (?!.*# SKIP)/m, "$name: nothing is green");
}

# --- nothing is green ---

{
    my ($status, $out, $err) = lockbench('verify', '-s', 'skip-locked-hold', '-d', 'sqlite:', '--quiet');
    is($status, 5, 'a gate that skipped everything is not green') or diag $out;
    like($err, qr/\Alockbench: nothing was tested: [^\n]*\n\z/, 'and says so in one line');
    my $waits = spew('waits.sql', <<'SQL');
-- strategy: waits
-- shape: lock
-- claims: progress

-- name: setup
CREATE TABLE waits_lock (name varchar(100) PRIMARY KEY, owner varchar(100));
-- name: resource
INSERT INTO waits_lock (name) VALUES (:resource);
-- name: acquire
UPDATE waits_lock SET owner = :worker WHERE name = :resource AND owner IS NULL;
-- name: release
UPDATE waits_lock SET owner = NULL WHERE name = :resource AND owner = :worker;
SQL
    ($status, $out, $err) = lockbench('verify', '-s', $waits, '-d', 'sqlite:', '-S', 'mutex-pair', '--count', '5',
        '--duration', '0', '--progress-bound', '0', '--quiet');
    is($status, 5, 'nor is one whose cells ran and got no verdict') or diag $out;
    like($err, qr/\Alockbench: nothing was tested: no claim got a verdict in [^\n]*\n\z/, '... and says so in one line');
    my $never = spew('never.sql', <<'SQL');
-- strategy: never
-- shape: lock
-- claims: exclusive, owner-release, progress

-- name: setup
CREATE TABLE never_lock (name varchar(100) PRIMARY KEY, owner varchar(100));
-- name: resource
INSERT INTO never_lock (name) VALUES (:resource);
-- name: acquire
UPDATE never_lock SET owner = :worker WHERE name = :resource AND owner = 'nobody';
-- name: release
UPDATE never_lock SET owner = NULL WHERE name = :resource AND owner = :worker;
SQL
    ($status, $out) = lockbench('run', '-s', $never, '-d', 'sqlite:', '-S', 'mutex-pair', '--count', '1', '--tries', '20',
        '--duration', '0', '--progress-bound', '10m', '--format', 'json', '--quiet');
    my $json = eval { decode_json($out) };
    my %verdicts = map { $_ => 1 } map { $_->{verdict} } values %{ $json->{cells}[0]{guarantees} };
    ok(!$verdicts{held}, 'a run without one grant is not held') or diag join ' ', keys %verdicts;
    like(warnings($out), qr/nothing was granted/, 'and says so');
}

# --- stuck items ---

{
    my @kill = ('run', '-S', 'steady', '-d', $uri, '--fault', 'kill', '--fault-count', '3', '--fault-interval', '1s',
        '--duration', '0', '--warmup', '0', '--quiet', '--format', 'json', '--put-interval', '20ms');
    my ($status, $out) = lockbench(@kill, '-s', 'skip-locked', '--recover', '0');
    my $cell = eval { decode_json($out) }->{cells}[0];
    is($cell->{guarantees}{'no-loss'}{verdict}, 'violated', 'items of the dead that stay stuck are lost') or diag $out;
    is($cell->{runs}[0]{measures}{stuck}, 3, 'all of them');
    is($status, 1, 'and the run says so');
    ($status, $out) = lockbench(@kill, '-s', 'skip-locked', '--recover', '100ms', '--ttl', '300ms');
    $cell = eval { decode_json($out) }->{cells}[0];
    is($cell->{guarantees}{'no-loss'}{verdict}, 'held', 'with a recovery they are not') or diag $out;
}

done_testing();
