#!/usr/bin/env perl
# Somebody has a session in template1, of which PostgreSQL then makes no copy: programs run all the same, on a copy of
# template0, unless template1 has more than that. Then a line says whose session it is. On a server of its own.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

plan skip_all => 'no PostgreSQL in LB_TEST_URIS' if ($ENV{LB_TEST_URIS} // '') !~ /^postgres/m;
plan skip_all => 'no psql' if !grep { -x "$_/psql" } split /:/, $ENV{PATH};
my ($uri) = own_servers('--fast', 'postgres');
my $template1 = $uri =~ s{/lockbench\?}{/template1?}r;

sub sql
{
    my ($where, $text) = @_;
    open my $pipe, '-|', 'psql', '-XAtq', $where, '-c', $text or die "psql: $!\n";
    my $answer = do { local $/; <$pipe> } // '';
    close $pipe;
    chomp $answer;
    return $answer;
}

# A lock that no worker ever gets; if requested, its setup needs the table that the administrator
# has made in template1.
sub program
{
    my ($name, $setup) = @_;
    my $path = spew($name, <<"SH");
#!/bin/sh
echo '{"hello":1,"strategy":"$name","shape":"lock","claims":["exclusive"],"engines":["postgres"]}'
while read -r line; do
    id=\$(printf '%s' "\$line" | sed 's/.*"id":\\([0-9]*\\).*/\\1/')
    case \$line in
    *'"do":"open"'*) uri=\$(printf '%s' "\$line" | sed 's/.*"uri":"\\([^"]*\\)".*/\\1/') ;;
    *'"do":"setup"'*) $setup ;;
    *'"do":"acquire"'*) echo "{\\"id\\":\$id,\\"busy\\":true}"; continue ;;
    esac
    echo "{\\"id\\":\$id,\\"ok\\":true}"
done
SH
    chmod 0755, $path;
    return $path;
}

sub run
{
    my ($path) = @_;
    return lockbench('run', '-s', $path, '-d', $uri, '-q', '--workers', 1, '--duration', '200ms', '--warmup', 0,
        '--opt', 'start_ms=600000', '--opt', 'answer_ms=600000');
}

my $plain = program('plain', 'true');
my $wanting = program('wanting', 'psql -XAtq "$uri" -c "SELECT * FROM of_the_administrator" >&2 || exit 1');

# Its id, once it is there.
sub visit
{
    my $visitor = start_program('psql', '-Xq', "$template1&application_name=visitor", '-c', 'SELECT pg_sleep(3600)');
    my $who = "SELECT pid FROM pg_stat_activity WHERE datname = 'template1' AND application_name = 'visitor'";
    ok(wait_for(sub { return sql($uri, $who) ne '' }), 'somebody is in template1');
    return ($visitor, sql($uri, $who));
}

sub leave
{
    my ($visitor, $pid) = @_;
    sql($uri, "SELECT pg_terminate_backend($pid)");
    finish($visitor);
    wait_for(sub { return sql($uri, "SELECT count(*) FROM pg_stat_activity WHERE pid = $pid") eq '0' });
    return;
}

my @visit = visit();
my ($status, $out, $err) = run($plain);
is($status, 5, 'a program runs, and nothing is granted') or diag $err;
leave(@visit);

sql($template1, 'CREATE TABLE of_the_administrator (id int); GRANT SELECT ON of_the_administrator TO PUBLIC');
($status, $out, $err) = run($wanting);
is($status, 5, 'what is in template1 is there for a program') or diag $err;
@visit = visit();
($status, $out, $err) = run($plain);
is($status, 3, 'with somebody in it, and more in it than in template0: status');
like("$out$err", qr/template1, of which new ones are copies, is used by\s+session $visit[1]\s+\(user \w+, visitor\);\s+end that\s+session/, 'says whose session it is');
is(sql($uri, "SELECT count(*) FROM pg_database WHERE datname LIKE 'lockbench!_%' ESCAPE '!'"), '0', 'no database is left');
leave(@visit);
($status, $out, $err) = run($wanting);
is($status, 5, 'after its end it runs again') or diag $err;

# A run is killed while the server makes its database, which waits for a lock here. The next run ends the session that
# makes it before it drops what tells whose the database is.
my $lock = start_program('psql', '-Xq', "$uri&application_name=holder", '-c', 'BEGIN', '-c', 'COMMENT ON DATABASE template1 IS NULL', '-c', 'SELECT pg_sleep(3600)');
my $holder = "SELECT pid FROM pg_stat_activity WHERE application_name = 'holder' AND query LIKE 'SELECT pg_sleep%'";
ok(wait_for(sub { return sql($uri, $holder) ne '' }), 'template1 is locked');
my $killed = start('run', '-s', $plain, '-d', $uri, '-q', '--workers', 1, '--duration', '200ms', '--warmup', 0);
my $waits = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CREATE DATABASE%' AND state = 'active' AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()";
ok(wait_for(sub { return sql($uri, $waits) eq '1' }), 'a database is being made');
kill 'KILL', $killed->{pid};
finish($killed);
is((lockbench('run', '-s', good_lock(), '-d', $uri, '-q', '--workers', 1, '--count', 1, '--duration', '10m', '--warmup', 0))[0], 0, 'another run');
is(sql($uri, $waits), '0', '... has ended the session that made it');
sql($uri, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder'");
finish($lock);
ok(wait_for(sub { return sql($uri, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CREATE DATABASE%' AND state = 'active' AND pid <> pg_backend_pid()") eq '0' }), 'all have ended');
is(sql($uri, "SELECT (SELECT count(*) FROM pg_database WHERE datname LIKE 'lockbench!_%' ESCAPE '!') + (SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'lockbench!_%' ESCAPE '!')"), '0', 'neither a database nor a schema is left');
done_testing();
