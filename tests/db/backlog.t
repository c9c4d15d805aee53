#!/usr/bin/env perl
# A large backlog is put by several sessions at once, each item once and under the same number; by one alone where the
# order is promised, where half of a put may happen, and where there is one writer. Sessions that refuse each other
# leave their part to one of them. A failed put is reported once.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use List::Util qw(sum);
use Lockbench;
use Test::More;

my ($postgres, $mariadb) = map { my $engine = $_; (grep { /^$engine/ } split /\n/, $ENV{LB_TEST_URIS} // '')[0] } qw(postgres mariadb);
plan skip_all => 'neither PostgreSQL nor MariaDB in LB_TEST_URIS' if !defined $postgres && !defined $mariadb;
chomp(my $cores = `getconf _NPROCESSORS_ONLN`);
my $items = 30_001;

# A queue without any order, with the given claims and put.
sub queue
{
    my ($name, $claims, $put) = @_;
    return spew("$name.sql", <<"SQL");
-- strategy: $name
-- shape: queue
-- claims: $claims
-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, state int NOT NULL DEFAULT 0, owner varchar(64));
CREATE INDEX job_ready ON job (state, id);
CREATE TABLE other (id bigint PRIMARY KEY);
$put
-- name: claim [postgres, sqlite]
UPDATE job SET state = 1, owner = :worker
WHERE id IN (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT :n) AND state = 0 RETURNING id;
-- name: claim [mariadb] tx=one
-- require: row
UPDATE job SET state = 1, owner = :worker WHERE state = 0 ORDER BY id LIMIT :n;
SELECT id FROM job WHERE state = 1 AND owner = :worker;
-- name: complete
UPDATE job SET state = 2 WHERE id = :id AND state = 1 AND owner = :worker;
-- name: teardown
DROP TABLE job;
DROP TABLE other;
SQL
}

# The puts of a run, by session: of each the operations that came to each end; and how often each item was put.
my $n_runs = 0;
sub puts
{
    my ($uri, $strategy, @more) = @_;
    my $folder = scratch() . '/run' . $n_runs++;
    my ($status, $out, $err) = lockbench('run', '-s', $strategy, '-d', $uri, '-S', 'steady', '--backlog', $items, '--workers', '3',
        '--producers', '0', '--count', '1', '--duration', '10m', '--warmup', '0', '--hold', '0', '--quiet', '--keep-history', '-o', $folder, @more);
    my ($file) = glob "$folder/*/*.lbh";
    return ($status, $err) if !defined $file;
    my (%ends, %times);
    open my $events, '-|', $ENV{LOCKBENCH}, 'check', $file, '--export', 'jsonl' or die;
    while (<$events>) {
        my $event = decode_json($_);
        next if ($event->{f} // '') ne 'put' || $event->{type} eq 'invoke';
        $ends{$event->{process}}{$event->{type}}++;
        next if $event->{type} ne 'ok';
        $times{$_}++ for $event->{value} .. $event->{value} + ($event->{arg} // 1) - 1;
    }
    close $events;
    return ($status, $err, \%ends, \%times);
}

# Repeats until the chance event appears.
sub puts_until
{
    my ($is_there, @args) = @_;
    return try_until(sub { return $_[0] != 0 || $is_there->($_[2]) }, sub { return puts(@args) });
}

sub is_whole
{
    my ($times, $name) = @_;
    my @numbers = sort { $a <=> $b } keys %$times;
    is("@numbers[0, -1] " . @numbers . ' ' . grep({ $_ != 1 } values %$times), "1 $items $items 0", "$name: each item, and each once");
}

my $by_range = <<'SQL';
-- name: put [postgres]
INSERT INTO job (id) SELECT i FROM generate_series(:id::bigint, :id + :n - 1) AS i;
-- name: put [mariadb]
INSERT INTO job (id) SELECT :id + seq FROM seq_0_to_99999 WHERE seq < :n;
-- name: put [sqlite]
INSERT INTO job (id) SELECT value FROM generate_series(:id, :id + :n - 1);
SQL
my $in_two = $by_range =~ s/^(INSERT.*;)$/INSERT INTO other (id) VALUES (:id);\n$1/mgr;
my $at_once = $in_two =~ s/\]$/] tx=one/mgr;

for my $uri (grep { defined } $postgres, $mariadb) {
    my ($engine) = $uri =~ /^(\w+):/;
    for (['any', 'no-loss', $by_range, $cores > 1], ['two', 'no-loss', $in_two, 0], ['one', 'no-loss', $at_once, $cores > 1],
        ['ordered', 'no-loss, fifo', $by_range, 0]) {
        my ($name, $claims, $put, $has_many) = @$_;
        my ($status, $err, $ends, $times) = puts_until(sub { !$has_many || keys %{$_[0]} > 1 }, $uri, queue($name, $claims, $put));
        is($status, 0, "$engine $name: a run") or diag $err;
        is_whole($times, "$engine $name");
        is(keys %$ends > 1 ? 'several' : 'one', $has_many ? 'several' : 'one', "$engine $name: by so many sessions");
        is(sum(map { $_->{ok} // 0 } values %$ends), $has_many ? 7 : 31, "$engine $name: ... in so many statements");
    }
    # Items of several classes are put class by class, by the same sessions.
    my ($status, $err, undef, $times) = puts($uri, 'skip-locked', '--classes', '3', '--backlog', $items *= 2);
    is($status, 0, "$engine classes: a run") or diag $err;
    is_whole($times, "$engine classes");
    $items /= 2;
}

SKIP: {
    skip 'no PostgreSQL in LB_TEST_URIS', 4 if !defined $postgres;
    # Two that share a lock, and want it alone: the server ends one of them.
    my $waiting = queue('waiting', 'no-loss', <<'SQL');
-- name: put tx=one
LOCK TABLE job IN SHARE MODE;
INSERT INTO job (id) SELECT i FROM generate_series(:id::bigint, :id + :n - 1) AS i;
SQL
    my ($status, $err, undef, $times) =
        puts_until(sub { $cores == 1 || grep { $_->{fail} } values %{$_[0]} }, $postgres, $waiting);
    is($status, 0, 'puts that refuse each other: a run') or diag $err;
    is_whole($times, 'puts that refuse each other');

    my $doubled = queue('doubled', 'no-loss', $by_range =~ s/SELECT i FROM/SELECT i % 25000 FROM/r);
    ($status, $err) = puts($postgres, $doubled);
    is($status, 3, 'what cannot be put');
    my @told = $err =~ /(the backlog could not be put: .*duplicate key)/g;
    is(scalar @told, 1, '... is told, and once') or diag $err;
}
done_testing();
