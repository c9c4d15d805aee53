#!/usr/bin/env perl
# lockbench show --as CLIENT: what is printed runs in that client, on its server, as it is.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

sub shown { my ($status, $out, $err) = lockbench('show', @_); is("$status$err", '0', "show @_"); return $out }
sub has { return system("command -v $_[0] >/dev/null 2>&1") == 0 }
my ($postgres) = grep { /^postgresql:/ } split /\n/, $ENV{LB_TEST_URIS} // '';
my ($mariadb) = grep { /^mariadb:/ } split /\n/, $ENV{LB_TEST_URIS} // '';
my @strategies = qw(skip-locked lease-upsert fifo-poll-safe nowait slots move-table);

sub run_shell
{
    my ($name, $command) = @_;
    my $said = `$command 2>&1 </dev/null`;
    is($? >> 8, 0, $name) or diag $said;
    return $said;
}

SKIP: {
    skip 'no sqlite3', 1 if !has('sqlite3');
    for my $strategy (qw(skip-locked lease-upsert fifo-poll-safe move-table)) {
        my $file = spew("$strategy.sqlite", shown($strategy, '--as', 'sqlite'));
        my $said = run_shell("sqlite3 runs $strategy", "sqlite3 -bail :memory: '.read $file'");
        like($said, qr/^1\|work\|1$/m, '... and the item is claimed') if $strategy eq 'skip-locked';
    }
}

SKIP: {
    skip 'no PostgreSQL, or no psql', 1 if !defined $postgres || !has('psql');
    my $schema = "lb_show_$$";
    my $psql = "psql -XqAt -v ON_ERROR_STOP=1 '$postgres' -c 'CREATE SCHEMA $schema' -c 'SET search_path = $schema'";
    my $drop = "psql -Xq '$postgres' -c 'DROP SCHEMA $schema CASCADE' 2>/dev/null";
    for my $strategy (@strategies) {
        my $file = spew("$strategy.psql", shown($strategy, '--as', 'psql'));
        my $said = run_shell("psql runs $strategy", "$psql -f $file");
        like($said, qr/^1\|work\|1$/m, '... and the item is claimed') if $strategy eq 'skip-locked';
        system $drop;
    }
    # Of a library, the server is asked to prepare each statement, with the types in the comment above.
    for my $as (qw(libpq jdbc)) {
        my ($n, $script, @types) = (0, shown('skip-locked', '--as', $as));
        $script =~ s/^-- (?!1|\$1).*\n//mg;
        my @statements = split /;\n/, $script;
        for my $statement (@statements) {
            @types = $statement =~ s/^\n*-- (\$?1 = .*)\n//m ? $1 =~ /= \w+ \((\w+)\)/g : ();
            my $i = 0;
            $statement =~ s/\?/'$' . ++$i/ge if $as eq 'jdbc';
            next if $statement !~ /^\s*(?:INSERT|UPDATE|WITH|SELECT|DELETE)/;
            $statement = 'PREPARE s' . $n++ . (@types ? ' (' . join(', ', @types) . ')' : '') . " AS $statement";
        }
        cmp_ok($n, '>', 8, "--as $as: there are statements");
        run_shell("... which the server prepares", "$psql -f " . spew("prepared.$as", join ";\n", @statements));
        system $drop;
    }
}

SKIP: {
    my ($socket) = ($mariadb // '') =~ /socket=([^&]*)/;
    skip 'no MariaDB, or no mariadb', 1 if !defined $socket || !has('mariadb');
    $socket =~ s/%(..)/chr hex $1/ge;
    my ($user) = $mariadb =~ m{//(\w+)};
    my $client = "mariadb -S '$socket' -u $user";
    my $database = "lb_show_$$";
    for my $strategy (@strategies) {
        my $file = spew("$strategy.mysql", shown($strategy, '--as', 'mysql'));
        system "$client -e 'CREATE DATABASE $database'";
        my $said = run_shell("mariadb runs $strategy", "$client $database -e 'source $file'");
        like($said, qr/^1\twork\t1$/m, '... and the item is claimed') if $strategy eq 'skip-locked';
        system "$client -e 'DROP DATABASE $database'";
    }
}

# A recover that takes what live workers have is not pasted without a warning.
for my $as ([], ['--as', 'psql']) {
    my $out = shown('skip-locked', @$as);
    like($out, qr/^-- Warning! This also takes the items of a live worker.*\n.*\n-- (?:name: )?recover\b/m, 'the warning stands above recover');
    like($out, qr/^-- Parameters\n(?:--   \S+ \(\w+\): .*\n)*--   :worker \(text\): name of the caller/m, 'the parameters are explained');
}
like(shown('slots', '--as', 'libpq'), qr/\$1/, 'libpq: $1');
for my $bad ([['skip-locked', '--as', 'oracle'], qr/'oracle' is not one of psql, mysql, sqlite, jdbc, libpq/],
    [['skip-locked', '--as', 'psql', '-d', 'sqlite'], qr/psql does not speak to SQLite/]) {
    my ($status, $out, $err) = lockbench('show', @{$bad->[0]});
    is("$status$out", '2', "show @{$bad->[0]}");
    like($err, qr/^lockbench: option --as: $bad->[1]\n\z/, '... is refused');
}
done_testing();
