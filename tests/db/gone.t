#!/usr/bin/env perl
# A server that goes away, and a space that somebody drops: one line that says which, and exit status 3, at
# each stage of a run and of an exploration. The servers are the test's own.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;
use Time::HiRes 'sleep';

my $servers = ($ENV{LB_SOURCE} // '.') . '/scripts/servers';
my $dir = scratch() . '/servers';
mkdir $dir;
my $started = `$servers start --fast --dir $dir postgres mariadb 2>$dir.log`;
plan skip_all => 'no servers could be started: ' . slurp("$dir.log") =~ s/\n/ /gr if $? != 0;
END { local $?; system "$servers stop --dir $dir >/dev/null 2>&1" if defined $dir }


for my $row (grep { length } split /\n/, `$servers status --dir $dir`) {
    my ($name, $engine, undef, $uri) = split /\t/, $row;
    my $sql = sub {
        my ($text) = @_;
        my ($socket) = $uri =~ /socket=([^&]*)/;
        my $path = ($socket // '') =~ s/%([0-9A-F]{2})/chr hex $1/ger;
        my @command = $engine eq 'postgres' ? ('psql', '-XAtqc', $text, $uri) : ('mariadb', '-S', $path, '-u', 'lockbench', '-Nse', $text);
        open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>/dev/null', 'sh', @command or die;
        my @rows = <$pipe>;
        close $pipe;
        chomp @rows;
        return @rows;
    };
    my $spaces = $engine eq 'postgres' ? "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'lockbench\\_%'"
        : "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'lockbench\\_%'";
    # Until a table of the run's has rows that workers changed: they are at work.
    my $at_work = sub {
        my ($table) = @_;
        for (1 .. 600) {
            my ($space) = $sql->($spaces);
            my ($n) = defined $space ? $sql->("SELECT count(*) FROM $space.$table") : ();
            return $space if $n;
            sleep 0.05;
        }
        return;
    };
    my $lock = spew("gone-lock.sql", <<'SQL');
-- strategy: gone-lock
-- shape: lock
-- claims: exclusive, owner-release

-- name: setup
CREATE TABLE gone_lock (name varchar(100) PRIMARY KEY, owner varchar(100));
CREATE TABLE gone_seen (id bigint);
-- name: resource
INSERT INTO gone_lock (name) VALUES (:resource);
INSERT INTO gone_seen VALUES (1);
-- name: acquire
UPDATE gone_lock SET owner = :worker WHERE name = :resource AND owner IS NULL;
-- name: release
UPDATE gone_lock SET owner = NULL WHERE name = :resource AND owner = :worker;
SQL
    my @short = ('--warmup', '0', '--quiet');
    my $one = sub {
        my ($what, $says, $status, $out, $err) = @_;
        is($status, 3, "$engine, $what: exit status") or diag $out;
        like($err, qr/\Alockbench: [^\n]*$says[^\n]*\n\z/, "$engine, $what: one line");
        unlike($err, qr/cannot drop|could not be dropped/, "$engine, $what: not what follows from it");
    };

    # In the run; with a hold that outlasts the measured part: at its end; in an exploration. A run waits half a
    # minute for a server to come back: each engine has one of the two.
    my @cases = (['in the run', 'run', '--duration', '60s'],
        ['at the end', 'run', '--duration', '10ms', '--workers', '1', '--hold', '20s'],
        ['in an exploration', 'explore', '--workers', '3', '--rounds', '20', '--time', '60s']);
    for my $case ($cases[$engine eq 'postgres'], $cases[2]) {
        my ($what, $command, @args) = @$case;
        my $run = start($command, '-s', $lock, '-d', $uri, @args, $command eq 'explore' ? () : @short);
        ok($at_work->('gone_seen'), "$engine, $what: it is at work");
        sleep 0.5;
        system "$servers halt $name --dir $dir >/dev/null 2>&1";
        $one->("halted $what", 'the server went away', finish($run));
        system "$servers resume $name --dir $dir >/dev/null 2>&1";
    }

    # Its tables are dropped; its sessions live.
    for my $case (@cases[0, 2]) {
        my ($what, $command, @args) = @$case;
        my $run = start($command, '-s', $lock, '-d', $uri, @args, $command eq 'explore' ? () : @short);
        my $space = $at_work->('gone_seen');
        ok($space, "$engine, dropped $what: it is at work");
        sleep 0.5;
        $sql->($engine eq 'postgres' ? "SET client_min_messages = error; DROP SCHEMA $space CASCADE" : "DROP DATABASE $space");
        $one->("dropped $what", qr/the (?:schema|database) \Q$space\E is gone: somebody else dropped it/, finish($run));
    }
}
done_testing();
