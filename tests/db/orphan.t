#!/usr/bin/env perl
# A session advisory lock through a pooler in transaction mode: acquire and release may run in
# different backends, so the lock stays with a backend that no worker will use again. Shown twice:
# by the verdict, and by the server's own list of locks after lockbench is gone.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

own_servers('--fast', 'pgbouncer');
my $servers = join "\n", servers('status');
my ($direct) = $servers =~ /\tpostgres\t[^\t]*\t(postgresql:[^\t]*)/;
my ($pooled) = $servers =~ /\tpgbouncer\t[^\t]*\t(postgresql:[^\t]*)/;
my @run = ('-s', 'advisory-session', '--workers', '4', '--hold', '5ms', '--warmup', '0', '--quiet',
    '--format', 'json');
sub orphans { return 0 + `psql -XAtq -c "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'" '$direct'` }

my ($status, $out, $err) = lockbench('run', @run, '--count', '50', '--duration', '0', '--progress-bound', '10m', '-d', $direct);
is($status, 0, 'without the pooler: held') or diag $err;
is(orphans(), 0, 'without the pooler: no lock is left');
($status, $out, $err) = lockbench('run', @run, '--duration', '5s', '-d', $pooled);
is($status, 1, 'through the pooler: violated') or diag $err;
my $guarantees = decode_json($out)->{cells}[0]{guarantees};
ok((grep { $guarantees->{$_}{verdict} eq 'violated' } qw(exclusive progress)) > 0,
    'through the pooler: two hold it, or nobody gets it any more');
cmp_ok(orphans(), '>', 0, 'through the pooler: locks that no session of lockbench holds');

# The matrix has a column for either way to the server.
($status, $out, $err) = lockbench('verify', '--matrix', '-s', 'advisory-xact', '-d', $direct, '-d', $pooled, '--isolation',
    'read-committed', '--count', '20', '--duration', '0', '--progress-bound', '10m', '--hold', '1ms', '--quiet', '--no-explore');
is($status, 0, 'the matrix: held both ways') or diag $out, $err;
like($out, qr/^\| strategy \| PostgreSQL [\d.]+<br>[^|]*\| PostgreSQL [\d.]+ through a pooler<br>[^|]*\|$/m, 'the matrix: a column for each')
    or diag $out;

# What lasts no longer than a transaction passes the pooler, also when connections are cut.
for my $case (['advisory-xact', 'exclusive', '--workers', '4', '--hold', '5ms'], ['skip-locked', 'no-loss', '-S', 'steady']) {
    my ($strategy, $guarantee, @args) = @$case;
    ($status, $out, $err) = lockbench('run', '-s', $strategy, @args, '-d', $pooled, '--fault', 'cut', '--fault-interval',
        '80ms', '--fault-count', '6', '--duration', '0', '--progress-bound', '10m', '--warmup', '0', '--quiet', '--format', 'json');
    is($status, 0, "through the pooler, cut: $strategy") or diag $err;
    my $cell = eval { decode_json($out)->{cells}[0] } // {};
    cmp_ok($cell->{runs}[0]{connections_lost} // 0, '>=', 3, "through the pooler, cut: $strategy noticed it");
    is($cell->{guarantees}{$guarantee}{verdict}, 'held', "through the pooler, cut: $strategy: $guarantee");
}

# A program has a database of its own, through the pooler as well, if that passes on to any. Its workers, one after the other,
# all get the one backend that the pooler has: what excludes others without it lets them in.
SKIP: {
    skip 'no python3-psycopg2', 8 if system('/usr/bin/python3 -c "import psycopg2" 2>/dev/null') != 0;
    my @record = ('record', '-s', ($ENV{LB_SOURCE} // '.') . '/examples/programs/advisory.py', '-o', scratch() . '/recorded.sql', '--opt',
        'start_ms=600000', '--opt', 'answer_ms=600000');
    my $databases = sub { return `psql -XAtq -c "SELECT datname FROM pg_database WHERE datname LIKE 'lockbench_%'" '$direct'` };
    ($status, $out, $err) = lockbench(@record, '-d', $direct);
    is($status, 0, 'a program without the pooler') or diag $err;
    unlike(slurp(scratch() . '/recorded.sql'), qr/another worker was granted it/, '... excludes others');
    ($status, $out, $err) = lockbench(@record, '-d', $pooled);
    is($status, 0, 'a program through the pooler') or diag $err;
    like(slurp(scratch() . '/recorded.sql'), qr/another worker was granted it/, '... lets others in');
    is($databases->(), '', '... and its database is gone');
    my $ini = scratch() . "/servers/pgbouncer/pgbouncer.ini";
    my $text = slurp($ini);
    $text =~ s/^\* = .*\n//m or die "$ini: no line for all databases\n";
    open my $file, '>', $ini or die "$ini: $!\n";
    print $file $text;
    close $file;
    servers('restart', 'pgbouncer');
    $? == 0 or die "pgbouncer does not start again\n";
    ($status, $out, $err) = lockbench(@record, '-d', $pooled);
    is($status, 2, 'a pooler that knows no other database: refused');
    like($err, qr/to which the pooler does not connect: it needs a line for all others/, '... with what to do');
    is($databases->(), '', '... and nothing is left');
}
done_testing();
