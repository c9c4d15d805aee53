#!/usr/bin/env perl
# MariaDB: the session that conducts a run is ended while its database is made, while the strategy's tables are, and
# while all is dropped; before the server has the statement, and after it has answered. The run goes on with
# another session, and leaves nothing behind. A relay between the two ends the connection at a statement of a kind,
# so that nothing depends on timing.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Select;
use IO::Socket::UNIX;
use JSON::PP;
use Lockbench;
use POSIX ();
use Test::More;

my ($server) = grep { /^(?:mariadb|mysql)/ } split /\n/, $ENV{LB_TEST_URIS} // '';
plan skip_all => 'no MariaDB in LB_TEST_URIS' if !defined $server;
my ($socket) = $server =~ /socket=([^&]*)/;
plan skip_all => 'MariaDB is not reached by a socket' if !defined $socket;
$socket =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge;

sub sql
{
    my ($text) = @_;
    open my $pipe, '-|', 'mariadb', '-S', $socket, '-u', 'lockbench', '-Nse', $text or die 'no mariadb';
    my @rows = <$pipe>;
    close $pipe;
    chomp @rows;
    return @rows;
}
# A name of its own: other tests use the same server.
my $name = "ended$$";
sub spaces { return sql("SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'lockbench\\_$name\\_%'") }
my $lock = spew("$name.sql", <<"SQL");
-- strategy: $name
-- shape: lock
-- claims: exclusive, owner-release

-- name: setup
CREATE TABLE ended_lock (name varchar(100) PRIMARY KEY, owner varchar(100));
-- name: resource
INSERT INTO ended_lock (name) VALUES (:resource);
-- name: acquire
UPDATE ended_lock SET owner = :worker WHERE name = :resource AND owner IS NULL;
-- name: release
UPDATE ended_lock SET owner = NULL WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP TABLE ended_lock;
SQL

my $relay = scratch() . '/relay.sock';
my $count = scratch() . '/cuts';

# Passes bytes between two sockets. At a statement with these words the connection ends, N times in
# all.
sub relay_between
{
    my ($client, $words, $is_answered, $times) = @_;
    my $to = IO::Socket::UNIX->new(Peer => $socket) or POSIX::_exit(1);
    my $select = IO::Select->new($client, $to);
    my $ends = 0;
    for (;;) {
        for my $from ($select->can_read) {
            my $n = sysread $from, my $bytes, 65536;
            POSIX::_exit(0) if !$n;
            if ($from == $client && index($bytes, $words) >= 0 && (-s $count // 0) < $times) {
                open my $file, '>>', $count;
                syswrite $file, 'x';
                POSIX::_exit(0) if !$is_answered;
                $ends = 1;
            }
            POSIX::_exit(0) if $from == $to && $ends;
            my $other = $from == $client ? $to : $client;
            for (my $done = 0; $done < $n;) { $done += syswrite($other, $bytes, $n - $done, $done) // POSIX::_exit(0) }
        }
    }
}

sub start_relay
{
    my ($words, $is_answered, $times) = @_;
    unlink $relay, $count;
    my $listener = IO::Socket::UNIX->new(Local => $relay, Listen => 64) or die "relay: $!";
    my $pid = fork;
    return $pid if $pid;
    $SIG{CHLD} = 'IGNORE';
    while (my $client = $listener->accept) {
        next if fork;
        close $listener;
        relay_between($client, $words, $is_answered, $times);
    }
    POSIX::_exit(0);
}

my $uri = $server =~ s{socket=[^&]*}{'socket=' . $relay =~ s/([^A-Za-z0-9_.-])/sprintf '%%%02X', ord $1/ger}er;
my @run = ('run', '-s', $lock, '-d', $uri, '--workers', '2', '--warmup', '0', '--duration', '300ms', '--quiet', '--format', 'json');
for my $case (['the database is made', "CREATE DATABASE `lockbench_${name}_"], ['it is registered', "CREATE TABLE `lockbench_${name}_"], ['all is dropped', "DROP DATABASE IF EXISTS `lockbench_${name}_"]) {
    my ($when, $words) = @$case;
    for my $is_answered (0, 1) {
        my $pid = start_relay($words, $is_answered, 2);
        my ($status, $out, $err) = lockbench(@run);
        kill 'TERM', $pid;
        waitpid $pid, 0;
        my $what = "the session is ended while $when, " . ($is_answered ? 'after' : 'before') . ' the server has done it';
        # A drop that is done need not be done again.
        cmp_ok(-s $count // 0, '>=', $is_answered && $words =~ /^DROP/ ? 1 : 2, $what);
        is($status, 0, '... exit status') or diag $err;
        is($err, '', '... nothing to say');
        is(eval { decode_json($out)->{cells}[0]{runs}[0]{state} } // 'none', 'complete', '... the run is complete');
        is_deeply([spaces()], [], '... nothing is left');
    }
}
done_testing();
