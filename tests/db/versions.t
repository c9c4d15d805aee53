#!/usr/bin/env perl
# Sections for some versions of an engine ([postgres >= 17]), on the servers that are here; what a MariaDB with
# innodb_snapshot_isolation=ON answers. LB_TEST_VERSIONS has more servers: scripts/servers start pg12 mariadb-strict.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my %named = map { split /\t/ } split /\n/, $ENV{LB_TEST_VERSIONS} // '';
my @all = (grep({ length } split /\n/, $ENV{LB_TEST_URIS} // ''), values %named);
my @postgres = grep { /^postgresql:/ } @all;
plan skip_all => 'no PostgreSQL' if !@postgres;

my @few = ('-S', 'drain', '--count', '10', '--workers', '2', '--quiet', '--progress-bound', '10m');

# Since 17, MERGE returns the item. Before, a table lock and UPDATE do the same.
sub queue
{
    my ($name, $claims) = @_;
    return spew("$name.sql", <<"SQL");
-- strategy: $name
-- shape: queue
-- claims: no-duplicate, no-loss
-- name: setup
CREATE TABLE task (id bigint PRIMARY KEY, payload text NOT NULL, state int NOT NULL DEFAULT 0);
-- name: put
INSERT INTO task (id, payload) VALUES (:id, :payload);
$claims
-- name: complete
DELETE FROM task WHERE id = :id AND state = 1;
-- name: teardown
DROP TABLE task;
SQL
}
my $merge = <<'SQL';
MERGE INTO task USING (SELECT id AS due FROM task WHERE state = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) AS first ON id = due
WHEN MATCHED THEN UPDATE SET state = 1
RETURNING id, payload;
SQL
my $update = <<'SQL';
UPDATE task SET state = 1 WHERE id = (SELECT id FROM task WHERE state = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload;
SQL
my $both = queue('both', "-- name: claim [postgres >= 17]\n$merge-- name: claim [postgres < 17, sqlite, mariadb]\n$update");
my $new = queue('new-only', "-- name: claim [postgres >= 17]\n$merge");
my $range = queue('range', "-- name: claim [postgres >= 17 < 99]\n$merge-- name: claim [postgres>=9.6<17]\n$update-- name: claim [postgres >= 99]\nSELECT 1;\n");

my %versions;
for my $uri (@postgres) {
    my ($status, $out, $err) = lockbench('run', '-s', $both, '-d', $uri, @few, '--format', 'json');
    is($status, 0, 'a file with a section for each version') or diag $out, $err;
    my ($version) = map { $_->{runs}[0]{server_settings}{version} =~ s/ .*//r } @{ decode_json($out)->{cells} };
    my $major = int $version;
    next if $versions{$major}++;
    is(decode_json($out)->{cells}[0]{runs}[0]{items}, 20, "... claims on $version");
    ($status, $out, $err) = lockbench('run', '-s', $new, '-d', $uri, @few);
    if ($major >= 17) {
        is($status, 0, "$version has the section of 17") or diag $err;
    } else {
        isnt($status, 0, "$version has none");
        like("$out$err" =~ s/\s+/ /gr, qr/has no section claim for postgres \Q$version\E/, '... which is said with the version');
    }
    next if $major < 17 && @postgres > 2 && $major != 15;
    ($status, $out, $err) = lockbench('run', '-s', $range, '-d', $uri, @few);
    is($status, 0, "$version: a range of versions") or diag $out, $err;
    ($status, $out, $err) = lockbench('explore', '-s', $both, '-d', $uri, '--items', '1');
    is($status, 0, '... explored too') or diag $out, $err;
}

for my $case (['postgres > 17', 'postgres > 17'], ['postgres >= x', 'postgres >= x'], ['postgres 17', 'postgres 17'], ['postgres <= 17', 'postgres <= 17']) {
    my ($status, undef, $err) = lockbench('run', '-s', queue('wrong', "-- name: claim [$case->[0]]\n$update"), '-d', 'sqlite:', @few);
    is($status, 2, "[$case->[0]]: refused");
    like($err, qr/\Alockbench: \S+wrong\.sql:8: section claim: "\Q$case->[1]\E": write a version as in "postgres >= 17"[^\n]*\n\z/, '... in one line');
}
my ($status, undef, $err) = lockbench('run', '-s', queue('two', "-- name: claim [postgres >= 15]\n$update-- name: claim [postgres >= 16]\n$update"), '-d', 'sqlite:', @few);
is($status, 2, 'two sections for one version: refused');

# The transaction reads before it writes: of two at once, the second has read what is no longer there.
SKIP: {
    my ($usual) = grep { /^mariadb:/ } split /\n/, $ENV{LB_TEST_URIS} // '';
    my $strict = $named{'mariadb-strict'};
    skip 'no mariadb-strict', 2 if !defined $usual || !defined $strict;
    my $counter = spew('reads-first.sql', <<'SQL');
-- strategy: reads-first
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE reads_first (name varchar(100) PRIMARY KEY, owner varchar(100), n int NOT NULL DEFAULT 0);
-- name: resource
INSERT INTO reads_first (name) VALUES (:resource);
-- name: acquire tx=one
-- require: row
SELECT n FROM reads_first WHERE name = :resource;
UPDATE reads_first SET owner = :worker, n = n + 1 WHERE name = :resource AND owner IS NULL;
-- name: release
UPDATE reads_first SET owner = NULL WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP TABLE reads_first;
SQL
    my %conflicts;
    for my $server ([OFF => $usual], [ON => $strict]) {
        my ($code, $out) = lockbench('run', '-s', $counter, '-d', $server->[1], '-S', 'mutex-hot', '--workers', '6', '--duration', '10m', '--count', '40',
            '--warmup', '0', '--quiet', '--progress-bound', '10m', '--format', 'json');
        is($code, 0, "innodb_snapshot_isolation=$server->[0]: the lock holds");
        my $run = decode_json($out)->{cells}[0]{runs}[0];
        is($run->{server_settings}{innodb_snapshot_isolation}, $server->[0], '... which the result says');
        $conflicts{ $server->[0] } = $run->{operations}{acquire}{answers}{conflict};
    }
    is($conflicts{OFF}, 0, '... without it, no conflict');
    cmp_ok($conflicts{ON}, '>', 0, '... with it, error 1020 is one');
}
done_testing();
