#!/usr/bin/env perl
# A user who may not do what a run needs: one line that says what, and exit status 3, in every command, whether the
# right is missing at the start, in the set-up or in a worker's statement; and nothing is left behind.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my ($pg) = grep { m{^postgresql://lockbench@/} } split /\n/, $ENV{LB_TEST_URIS} // '';
my ($maria) = grep { /^mariadb:.*socket=/ } split /\n/, $ENV{LB_TEST_URIS} // '';
plan skip_all => 'neither PostgreSQL nor MariaDB in LB_TEST_URIS' if !defined $pg && !defined $maria;
my $user = "poor$$";
my @undo;
END { local $?; system @$_ for @undo }

my @short = ('--duration', '100ms', '--warmup', '0', '--quiet');
my %commands = (run => [@short], verify => [@short], compare => [@short], explore => []);

sub refused
{
    my ($name, $uri, $strategy, $says) = @_;
    for my $command (sort keys %commands) {
        my ($status, undef, $err) = lockbench($command, '-s', $strategy, '-d', $uri, @{$commands{$command}});
        is($status, 3, "$name: $command: exit status");
        like($err, qr/\Alockbench: [^\n]*$says[^\n]*\n\z/, '... and one line');
    }
}

# A lock with a statement more in its set-up, and a condition more in its acquire.
sub lock_file
{
    my ($name, $setup, $condition) = @_;
    return spew("$name.sql", <<"SQL");
-- strategy: poor
-- shape: lock
-- claims: exclusive, owner-release

-- name: setup
CREATE TABLE poor_lock (name varchar(100) PRIMARY KEY, owner varchar(100));
$setup
-- name: resource
INSERT INTO poor_lock (name) VALUES (:resource);
-- name: acquire
UPDATE poor_lock SET owner = :worker WHERE name = :resource AND owner IS NULL $condition;
-- name: release
UPDATE poor_lock SET owner = NULL WHERE name = :resource AND owner = :worker;
SQL
}

if (defined $pg) {
    my $sql = sub { return system('psql', '-XAtqc', $_[0], $pg) };
    is($sql->("CREATE ROLE $user LOGIN"), 0, 'a role without rights');
    push @undo, ['psql', '-XAtqc', "DROP OWNED BY $user; DROP ROLE $user", $pg];
    my $uri = $pg =~ s/lockbench@/$user@/r;
    refused('PostgreSQL, no schema', $uri, 'lease-update', 'may not create a schema');
    is($sql->("GRANT CREATE ON DATABASE lockbench TO $user"), 0, 'it may create schemas');
    refused('PostgreSQL, set-up', $uri, lock_file('setup', 'CREATE TABLE read AS SELECT pg_read_file(chr(47));', ''), 'permission denied for function pg_read_file');
    refused('PostgreSQL, acquire', $uri, lock_file('acquire', '', 'AND pg_read_file(chr(47)) IS NOT NULL'), 'permission denied for function pg_read_file');
    my $left = `psql -XAtqc "SELECT count(*) FROM pg_namespace n JOIN pg_roles r ON r.oid = nspowner WHERE rolname = '$user'" '$pg'`;
    is($left, "0\n", 'PostgreSQL: no schema is left');
}
if (defined $maria) {
    my $socket = ($maria =~ /socket=([^&]*)/)[0] =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ger;
    my @sql = ('mariadb', '-S', $socket, '-u', 'lockbench', '-e');
    is(system(@sql, "CREATE USER $user\@localhost; GRANT SELECT ON lockbench.* TO $user\@localhost"), 0, 'a user without rights');
    push @undo, [@sql, "DROP USER $user\@localhost"];
    refused('MariaDB, no database', $maria =~ s/lockbench@/$user@/r, 'lease-update', 'may not create a database');
}
done_testing();
