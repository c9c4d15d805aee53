#!/usr/bin/env perl
# Problems with a server: not there, wrong password, no permission, too few connections, gone in the
# middle of a run. And two runs at once, each in a schema of its own.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my ($uri) = own_servers('--fast', '--max-connections', '20', 'postgres');
my ($name) = (servers('status'))[0] =~ /^(\S+)/;
my ($tcp) = grep { /^postgresql:/ } servers('status', '--tcp');
my $lock = good_lock();
my @short = ('-s', $lock, '--duration', '10m', '--count', '20', '--warmup', '0', '--workers', '4', '--quiet');

# One statement as the server's owner, by its own client.
sub sql
{
    my ($text, $target) = @_;
    open my $pipe, '-|', 'psql', '-XAtq', '-c', $text, $target // $uri or die "psql: $!\n";
    my @rows = <$pipe>;
    close $pipe;
    chomp @rows;
    return @rows;
}
# A statement that the server refuses each time, with the server's own hint.
my $mistyped = spew('mistyped.sql', <<'SQL');
-- strategy: mistyped
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE held (name text PRIMARY KEY, owner text);
CREATE FUNCTION take(n text, ms int) RETURNS boolean LANGUAGE sql AS 'UPDATE held SET owner = n WHERE name = n RETURNING true';
-- name: resource
INSERT INTO held (name) VALUES (:resource);
-- name: acquire
-- require: row
SELECT 1 WHERE take(:resource, :ttl_ms);
-- name: release
UPDATE held SET owner = NULL WHERE name = :resource;
-- name: teardown
DROP FUNCTION take;
DROP TABLE held;
SQL
{
    my ($status, $out, $err) = lockbench('verify', '-s', $mistyped, '-d', $uri, '-q');
    is($status, 3, 'a statement that the server refuses: exit status') or diag $out, $err;
    my @failed = $out =~ /^not ok/mg;
    is(@failed, 2, '... which is tried twice');
    like($out, qr/mistyped\.sql:11: function take\(unknown, bigint\) does not exist \(No function matches the given name/, '... with the line and the hint');
    like($out, qr/^# mistyped on postgres: nothing was tested: 2 of \d+ tests ended in an error; the others were not tried$/m, '... and the rest is not');
}

# PGOPTIONS of any length the server takes: lockbench's own settings come behind.
{
    local $ENV{PGOPTIONS} = '-c work_mem=4MB ' x 70;
    my ($status, undef, $err) = lockbench('explore', '-s', $lock, '-d', $uri, '--rounds', '1', '--quiet');
    is($status, 0, 'long PGOPTIONS: explored') or diag $err;
    ($status, undef, $err) = lockbench('run', @short, '-d', $uri, '--isolation', 'serializable');
    is($status, 0, 'long PGOPTIONS: run') or diag $err;
}

# A run is at work: its rows have changed often, as the server knows with some delay.
sub until_works
{
    return wait_for(sub { return ((sql("SELECT sum(n_tup_upd) FROM pg_stat_user_tables WHERE schemaname LIKE 'lockbench%'"))[0] || 0) > 100 });
}
sub schemas { return sql("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'lockbench%'") }

my ($status, $out, $err) = lockbench('run', @short, '-d', $uri);
is($status, 0, 'it runs') or diag $err;
like($out, qr/^postgres: PostgreSQL at\s+postgresql:\S+;\s+version=\d+/m, 'the server is told');
like($out, qr/\sfsync=off\s/, 'and its durability settings');
is_deeply([schemas()], [], 'no schema is left');

(my $wrong = $tcp) =~ s{(//[^:]+:)[^@]+@}{$1wrong-secret@} or die $tcp;
($status, $out, $err) = lockbench('run', @short, '-d', $wrong);
is($status, 3, 'wrong password: exit status');
like($err, qr/\Alockbench: [^\n]*password authentication failed[^\n]*\n\z/, 'wrong password: one line');
unlike($err, qr/wrong-secret/, 'wrong password: it is not printed');

my ($password) = $tcp =~ m{//[^:]+:([^@]+)@} or die;
($status, $out, $err) = lockbench('run', @short, '-d', $tcp, '-o', scratch() . '/results');
is($status, 0, 'right password') or diag $err;
is((grep { /\Q$password\E/ } $out, $err, map { slurp($_) } glob(scratch() . '/results/*/run.json')), 0,
    'right password: it is neither printed nor stored');

SKIP: {
    skip 'no psql', 2 if system('psql --version >/dev/null 2>&1') != 0;
    sql("CREATE ROLE plain LOGIN");
    my ($database) = sql('SELECT current_database()');
    sql("REVOKE CREATE ON DATABASE \"$database\" FROM public");
    (my $plain = $uri) =~ s{//[^@]+@}{//plain@};
    ($status, $out, $err) = lockbench('run', @short, '-d', $plain);
    is($status, 3, 'no CREATE privilege: exit status');
    like($err, qr/\Alockbench: [^\n]*(?:permission|CREATE)[^\n]*\n\z/, 'no CREATE privilege: one line');
}

($status, $out, $err) = lockbench('run', @short, '-d', $uri, '--workers', '50');
is($status, 3, 'too many workers: exit status');
like($err, qr/50 workers.*\(limit 20\)/, 'too many workers: both numbers');
is_deeply([schemas()], [], 'too many workers: no schema is left');

my @two = map { start('run', @short, '-d', $uri) } 1, 2;
for my $one (@two) {
    ($status, $out, $err) = finish($one);
    is($status, 0, 'two at once') or diag $err;
    like($out, qr/^good-lock +postgres +held/m, 'two at once: held');
}
is_deeply([schemas()], [], 'two at once: no schema is left');

my $run = start('run', '-s', $lock, '-d', $uri, '--duration', '10m', '--workers', '4');
until_works();
kill 'KILL', $run->{pid};
finish($run);
is(scalar(schemas()), 1, 'killed: its schema is left');
($status, $out, $err) = lockbench('run', @short, '-d', $uri);
is($status, 0, 'killed: the next run works') or diag $err;
is_deeply([schemas()], [], 'killed: and drops what was left');

# In the middle of a run the server goes away for good.
my $results = scratch() . '/gone';
$run = start('run', '-s', $lock, '-d', $uri, '--duration', '10m', '--workers', '4', '-o', $results);
until_works();
servers('halt', $name);
($status, $out, $err) = finish($run);
is($status, 3, 'server gone: exit status');
like($out, qr/^good-lock +postgres +inconclusive +[\d.]*[1-9]/m, 'server gone: the numbers so far') or diag $out, $err;
my ($file) = glob "$results/*/run.json";
ok(defined $file, 'server gone: it is stored') or diag $err;
is(decode_json(slurp($file))->{cells}[0]{verdict}, 'inconclusive', 'server gone: so is the verdict') if defined $file;

$run = start('verify', '-s', $lock, '-d', $uri, '--workers', '4', '--quiet');
($status, $out, $err) = finish($run);
is($status, 3, 'server away: exit status');
like($out, qr/^Bail out! /m, 'server away: verify bails out');

done_testing();
