#!/usr/bin/env perl
# The fault migrate: a migration runs while the workers do, behind a transaction that has read the table. The waiting times of
# all sessions for its lock are measured: an ALTER TABLE holds them all up, one with a bound only briefly, and an index that is
# made concurrently none.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json);
use Lockbench;
use Test::More;

my $file = "$ENV{LB_SOURCE}/tests/deploys/migrate.sql";
my @uris = ('sqlite:', grep { !/^sqlite:/ && length } split /\n/, $ENV{LB_TEST_URIS} // '');
# A database of its own: CREATE INDEX CONCURRENTLY waits for other tests' transactions in the same one.
/^postgres/ and ($_) = own_database($_) for @uris;
@uris = grep { defined } @uris;
my %is_on = (sqlite => qr/plain/, postgresql => qr/./, mariadb => qr/plain|bounded/);
my $length_ns = 400e6;
my @run = ('-S', 'steady', '--put-interval', '5ms', '--warmup', '0', '--quiet', '--fault', 'migrate', '--fault-interval', '50ms',
    '--fault-length', '400ms', '--fault-count', '1', '--duration', '0', '--format', 'json');

# The migration, whether the run succeeded, and its output.
sub migrated
{
    my ($uri, @more) = @_;
    my ($status, $out, $err) = lockbench('run', '-s', $file, '-d', $uri, @run, @more);
    my $answer = eval { decode_json($out) } or diag("no JSON: $out$err");
    return ($answer->{cells}[0]{runs}[0]{migration}, $status, "$out$err");
}

for my $uri (@uris) {
    my ($engine) = $uri =~ /^(\w+)/;
    my %seen;
    for my $how (grep { $_ =~ $is_on{$engine} } qw(plain bounded concurrently)) {
        my ($migration, $status, $said) = migrated($uri, '--opt', "how=$how");
        is($status, 0, "$how on $engine: the guarantees hold meanwhile") or diag $said;
        ok($migration->{done}, '... the migration is done');
        ok($migration->{watched}, '... and who waits was seen');
        $seen{$how} = $migration;
    }
    next if $engine eq 'sqlite';
    my ($plain, $bounded, $concurrently) = @seen{qw(plain bounded concurrently)};
    cmp_ok($plain->{took_ns}, '>=', 0.9 * $length_ns, "plain on $engine: it waits for the transaction");
    cmp_ok($plain->{sessions_waited}, '>=', 4, '... and the workers wait for it');
    cmp_ok($plain->{longest_wait_ns}, '>', $length_ns / 2, '... most of that time');
    cmp_ok($plain->{longest_wait_ns}, '<=', $plain->{took_ns}, '... and not longer than it took');
    cmp_ok($plain->{waited_ns}, '>', $plain->{longest_wait_ns}, '... several of them');
    is($plain->{tries}, 1, '... in one try');
    cmp_ok($bounded->{tries}, '>', 1, "bounded on $engine: it gives up, and tries again");
    cmp_ok($bounded->{longest_wait_ns}, '<', $plain->{longest_wait_ns} / 2, '... and no worker waits for long');
    next if !defined $concurrently;
    cmp_ok($concurrently->{blocked_ns}, '>', 0, 'concurrently: it waits for the transaction');
    is($concurrently->{sessions_waited}, 0, '... and no worker waits for it');
    my (undef, $status, $said) = migrated($uri, '--opt', 'how=retyped');
    isnt($status, 0, 'an answer with another type');
    like($said, qr/migrate\.sql:\d+: cached plan must not change result type/, '... is refused to sessions that have planned it');
}

my ($postgres) = grep { /^postgres/ } @uris;
SKIP: {
    skip 'no PostgreSQL', 3 if !defined $postgres;
    my @verify = ('-s', $file, '-d', $postgres, '-S', 'steady', '--faults', 'migrate', '--put-interval', '5ms');
    my ($status, $out, $err) = lockbench('verify', @verify);
    is($status, 0, 'verify --faults migrate') or diag "$out$err";
    like($out, qr/^# migrate postgres steady\+migrate: section migrate took .* sessions? waited for its locks, at least /m, '... says who waited') or diag $out;
    my ($run, $words) = lockbench('run', '-s', $file, '-d', $postgres, @run[0 .. $#run - 2]);
    like($words =~ s/\s+/ /gr, qr/migrate on postgres: section migrate took [\d.]+ \w+, waiting for locks .* waited for its locks/, 'run says so, too');
}

# --- refusals ---
for my $case (
    [['-s', 'lease-queue', '-S', 'steady'], qr/fault migrate needs a file with section migrate/],
    [['-s', $file, '-S', 'steady', '--with', "$ENV{LB_SOURCE}/tests/deploys/state-old.sql"], qr/with --with the migration runs before the workers start/],
    [['-s', $file, '-S', 'steady', '--opt', 'how=bounded'], qr/fault migrate: migrate has no section migrate here/],
    [['-s', $file, '-S', 'steady', '--fault-count', '2'], qr/happens once/],
) {
    my ($status, $out, $err) = lockbench('run', @{ $case->[0] }, '-d', 'sqlite:', '--fault', 'migrate', '--quiet');
    isnt($status, 0, "refused: @{ $case->[0] }");
    like("$out$err" =~ s/\s+/ /gr, $case->[1], '... with the reason');
}
my $twice = spew('twice.sql', slurp($file) =~ s/ALTER TABLE job ADD COLUMN note varchar\(40\);/CREATE TABLE job (id int);/r);
my ($status, $out, $err) = lockbench('run', '-s', $twice, '-d', 'sqlite:', '-S', 'steady', '--fault', 'migrate', '--fault-interval', '50ms', '--quiet');
isnt($status, 0, 'a migration that the server refuses');
like("$out$err" =~ s/\s+/ /gr, qr/twice\.sql:\d+: .*table job already exists/, '... ends the run, with its line');

done_testing;
