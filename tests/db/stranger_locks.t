#!/usr/bin/env perl
# Another user's session locks the tables of an exploration: it ends with one line that names the
# session, and no verdict. The wait is observed in the server, not timed: set-up goes on when the
# lock is there, and the lock goes when the space is to be dropped.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;
use Time::HiRes 'sleep';

my @uris = grep { /^(postgres|mariadb)/ } split /\n/, $ENV{LB_TEST_URIS} // '';
plan skip_all => 'no PostgreSQL or MariaDB server' if !@uris;

# A session of our own that executes one statement after the other; name: what others see of it.
sub session
{
    my ($uri, $name) = @_;
    my ($socket) = $uri =~ /socket=([^&]*)/;
    my $path     = ($socket // '') =~ s/%([0-9A-F]{2})/chr hex $1/ger;
    my @command  = $uri =~ /^postgres/ ? ('psql', '-XAtq', $uri) : ('mariadb', '-S', $path, '-u', 'lockbench', '-N', '--unbuffered');
    local $ENV{PGAPPNAME} = $name;
    my $pid = open my $in, '|-', 'sh', '-c', 'exec "$@" >/dev/null 2>&1', 'sh', @command or die;
    $in->autoflush(1);
    return { in => $in, pid => $pid };
}

sub rows
{
    my ($uri, $text) = @_;
    my ($socket) = $uri =~ /socket=([^&]*)/;
    my $path     = ($socket // '') =~ s/%([0-9A-F]{2})/chr hex $1/ger;
    my @command  = $uri =~ /^postgres/ ? ('psql', '-XAtqc', $text, $uri) : ('mariadb', '-S', $path, '-u', 'lockbench', '-Nse', $text);
    open my $pipe, '-|', @command or die;
    my @rows = <$pipe>;
    close $pipe;
    chomp @rows;
    return @rows;
}

sub until_seen
{
    my ($uri, $text, $pid) = @_;
    for (1 .. 6000) {
        my ($row) = rows($uri, $text);
        return $row if length($row // '');
        return if defined $pid && slurp("/proc/$pid/stat") =~ /\) Z/; # it has ended
        sleep 0.05;
    }
    return;
}

# Each stranger's lock, and the message.
my $worker = 'worker [01] waits for a lock that none of lockbench\'s sessions has';
my $put    = 'the space cannot be put back';
my %locks  = (
    postgres => {
        'a row'   => ['BEGIN; SELECT * FROM %s FOR UPDATE;', "$worker: process \\d+ \\(stranger, user \\w+\\)"],
        'a table' => ['BEGIN; LOCK TABLE %s;', "$put, for others have locks on it: process \\d+ \\(stranger, user \\w+\\)"] },
    mariadb => {
        'a row'   => ['BEGIN; SELECT * FROM %s FOR UPDATE;', "$put: timeout: [^\\n]*connection \\d+ \\(\\w+\\)"],
        'a table' => ['LOCK TABLES %s WRITE;', "$put: timeout: [^\\n]+; (?:see who else is connected to the server|none of lockbench\'s)"] });

sub protocol
{
    my ($name, $wait) = @_;
    return spew("$name.sql", <<"SQL");
-- strategy: held
-- shape: lock
-- claims: exclusive, progress

-- name: setup
CREATE TABLE $name (name varchar(100) PRIMARY KEY, owner varchar(100));
INSERT INTO $name VALUES ('r0', NULL);
$wait
-- name: acquire
UPDATE $name SET owner = :worker WHERE name = 'r0' AND owner IS NULL;
-- name: release
UPDATE $name SET owner = NULL WHERE name = 'r0' AND owner = :worker;
SQL
}

# All of them side by side: each waits for a while.
my @cases;
for my $uri (@uris) {
    my $pg     = $uri =~ /^postgres/;
    my $engine = $pg ? 'postgres' : 'mariadb';
    for my $what (sort keys %{ $locks{$engine} }) {
        my $name = 'held_' . $$ . '_' . @cases;
        my $has  = "EXISTS (SELECT FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE c.relname = '$name' "
            . "AND l.granted AND l.mode IN ('AccessExclusiveLock', 'RowShareLock') AND l.pid <> pg_backend_pid())";
        my $gate = $pg ? undef : session($uri, 'gate');
        if (!$pg) {
            print { $gate->{in} } "SELECT GET_LOCK('$name', 600);\n";
            until_seen($uri, "SELECT coalesce(IS_USED_LOCK('$name'), '')");
        }
        my $file = protocol($name, $pg
            ? "DO \$\$ BEGIN WHILE NOT $has LOOP PERFORM pg_sleep(0.01); END LOOP; END \$\$;"
            : "SELECT GET_LOCK('$name', 600);");
        my $run   = start('explore', '-s', $file, '-d', $uri, '--time', '2s');
        my $space = until_seen($uri, $pg
            ? "SELECT relnamespace::regnamespace FROM pg_class WHERE relname = '$name'"
            : "SELECT table_schema FROM information_schema.tables WHERE table_name = '$name'", $run->{pid});
        is($space && until_seen($uri, "SELECT name FROM $space.$name", $run->{pid}), 'r0', "$engine, $what: the tables are there")
            or die slurp($run->{err});
        my $stranger = session($uri, 'stranger');
        printf { $stranger->{in} } "$locks{$engine}{$what}[0]\n", "$space.$name";
        if (!$pg) {
            # It says so itself, by another lock that it takes behind the first one.
            print { $stranger->{in} } "SELECT GET_LOCK('stranger_$name', 600);\n";
            until_seen($uri, "SELECT coalesce(IS_USED_LOCK('stranger_$name'), '')");
            close $gate->{in};
        }
        push @cases, { uri => $uri, name => "$engine, $what", space => $space, run => $run, stranger => $stranger,
            says => $locks{$engine}{$what}[1] };
    }
}
for my $case (@cases) {
    # Its remains are dropped: there is no further message, and the stranger may end.
    until_seen($case->{uri}, $case->{uri} =~ /^postgres/
        ? "SELECT pid FROM pg_stat_activity WHERE query LIKE '%DROP SCHEMA%$case->{space}%' AND pid <> pg_backend_pid()"
        : "SELECT id FROM information_schema.processlist WHERE info LIKE 'DROP DATABASE%$case->{space}%'", $case->{run}{pid});
    close $case->{stranger}{in};
    my ($status, $out, $err) = finish($case->{run});
    is($status, 3, "$case->{name}: exit status") or diag $out;
    my $says = $case->{says};
    like($err, qr/\Alockbench: $says[^\n]*\n\z/, "$case->{name}: one line says who");
    unlike($out, qr/violated|no violation/, "$case->{name}: no verdict");
}
done_testing();
