#!/usr/bin/env perl
# Statements that the server refuses for a reason other than contention: "held" would describe
# something untested. Many of them make a run inconclusive, a few are a warning; and the protocol's
# own refusals are neither.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

# A release that raises once in :often, and delays no other worker.
my $sometimes = spew('sometimes.sql', <<'SQL');
-- strategy: sometimes
-- shape: lock
-- claims: exclusive
-- option: often = 2
-- name: setup
CREATE TABLE held (name text PRIMARY KEY, owner text);
CREATE TABLE released (n integer CHECK (n <> 1));
-- name: resource
INSERT INTO held (name) VALUES (:resource);
-- name: acquire
UPDATE held SET owner = :worker WHERE name = :resource AND owner IS NULL;
-- name: release tx=one
INSERT INTO released VALUES (abs(random()) % :often);
UPDATE held SET owner = NULL WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP TABLE held;
SQL
my $where = quotemeta "$sometimes:13: CHECK (275) CHECK constraint failed: n <> 1";
my ($status, $out, $err) = lockbench('verify', '-s', $sometimes, '-d', 'sqlite:', '-q', '--budget', '5s', '--no-explore');
is($status, 5, 'half of the releases raise: inconclusive') or diag $out, $err;
like($out, qr/^ok \d+ - sometimes sqlite \S+ exclusive # SKIP not tested: the server refused \d+ of \d+ releases, and not by contention; the first: $where$/m,
    'no verdict, but the statement and the words of the server');
unlike($out, qr/^ok \d+ - \S+ sqlite \S+ exclusive$/m, '... in no line');

my @rarely = ('verify', '-s', $sometimes, '-d', 'sqlite:', '-q', '--budget', '5s', '--no-explore', '--opt', 'often=20');
($status, $out, $err) = until_shown(sub { return $_[0] == 0 && $_[1] =~ /^# sometimes/m }, @rarely);
is($status, 0, 'a few of them: a verdict') or diag $out, $err;
like($out, qr/^ok \d+ - sometimes sqlite \S+ exclusive$/m, '... held');
like($out, qr/^# sometimes sqlite \S+: the server refused an operation for a reason that is no contention, \d+ times \(\d+ of \d+ measured releases\), the first at \S+ \S+: $where$/m,
    '... and a warning with the share');

# A statement after the answer of an acquire that found the lock taken.
my $behind = spew('behind.sql', <<'SQL');
-- strategy: behind
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE held (name text PRIMARY KEY, owner text);
CREATE TABLE told (owner text NOT NULL);
-- name: resource
INSERT INTO held (name) VALUES (:resource);
-- name: acquire
-- require: row
SELECT name AS mine FROM held WHERE name = :resource AND owner IS NULL;
-- answer: row
UPDATE held SET owner = :worker WHERE name = :resource AND owner IS NULL;
INSERT INTO told SELECT NULL WHERE NOT EXISTS (SELECT 1 FROM held WHERE name = :resource AND owner = :worker);
-- name: release
UPDATE held SET owner = NULL WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP TABLE held;
SQL
($status, $out, $err) = lockbench('run', '-s', $behind, '-d', 'sqlite:', '-S', 'mutex-hot', '--workers', '4', '--hold', '2ms', '--duration', '1s', '-q');
is($status, 5, 'acquires that raise where the lock is taken: inconclusive') or diag $out, $err;
like($out, qr/not tested: the server refused \d+ of \d+ acquires, and not by\s+contention; the first:\s+\Q$behind\E:14: NOTNULL/, '... with the line');

# A CHECK by which the protocol says no: said by on-error, it is a refusal as any other.
my $checked = <<'SQL';
-- strategy: checked
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE held (name text PRIMARY KEY, free integer NOT NULL CHECK (free >= 0));
-- name: resource
INSERT INTO held (name, free) VALUES (:resource, 1);
-- name: acquire
-- on-error: busy
UPDATE held SET free = free - 1 WHERE name = :resource;
-- name: release
UPDATE held SET free = free + 1 WHERE name = :resource;
-- name: teardown
DROP TABLE held;
SQL
($status, $out, $err) = lockbench('verify', '-s', spew('checked.sql', $checked), '-d', 'sqlite:', '-q', '--budget', '5s', '--no-explore');
is($status, 0, 'on-error: busy names a CHECK as well') or diag $out, $err;
unlike($out, qr/refused an operation/, '... without a warning');
like($out, qr/^ok \d+ - checked sqlite mutex-hot exclusive$/m, '... and is judged');

# A key that is there already is how most of these say no.
($status, $out, $err) = lockbench('verify', '-s', spew('keyed.sql', <<'SQL'), '-d', 'sqlite:', '-q', '--budget', '5s', '--no-explore');
-- strategy: keyed
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE held (name text PRIMARY KEY);
-- name: acquire
INSERT INTO held (name) VALUES (:resource);
-- name: release
DELETE FROM held WHERE name = :resource;
-- name: teardown
DROP TABLE held;
SQL
is($status, 0, 'a duplicate key in acquire is no surprise') or diag $out, $err;

# A release that never comes through: the first holder has the lock for ever, perhaps since before
# the measured part.
my $stuck = spew('stuck.sql', <<'SQL');
-- strategy: stuck
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE held (name text PRIMARY KEY, owner text, n int CHECK (n >= 0));
-- name: resource
INSERT INTO held (name, n) VALUES (:resource, 0);
-- name: acquire
UPDATE held SET owner = :worker WHERE name = :resource AND owner IS NULL;
-- name: release
UPDATE held SET owner = NULL, n = -1 WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP TABLE held;
SQL
($status, $out, $err) = lockbench('verify', '-s', $stuck, '-d', 'sqlite:', '-q', '--budget', '5s');
is($status, 5, 'a lock that is never given back is inconclusive') or diag $out, $err;
unlike($out, qr/^ok \d+ (?!.*# SKIP)/m, '... and nowhere held');
like($out, qr/the server refused \d+ operations, not by contention; the first: \S*stuck\.sql:11: CHECK/, '... with the line that is refused');
($status, $out) = lockbench('explore', '-s', $stuck, '-d', 'sqlite:', '-q');
like($out, qr/exclusive +not tested: in \d+ of \d+ schedules the server refused releases, and not by contention; the first: \S*stuck\.sql:11: CHECK/,
    'nor is it when it is explored, with the same line');
($status, $out, $err) = lockbench('explore', '-s', spew('unchecked.sql', $checked =~ s/-- on-error: busy\n//r), '-d', 'sqlite:', '-q');
is($status, 5, 'a CHECK that nothing names: explored, it is inconclusive');
like($out, qr/exclusive +not tested: in \d+ of \d+ schedules the server refused acquires, and not by contention/, '... and says so');
like($err, qr/^lockbench: nothing was tested: no claim got a verdict/, '... and that nothing was tested');
($status, $out) = lockbench('explore', '-s', spew('checked.sql', $checked), '-d', 'sqlite:', '-q');
is($status, 0, '... named, it is explored');
like($out, qr/exclusive +held/, '... and held');

# Messages for bad calls name the correct form.
(undef, undef, $err) = lockbench('verify', 'my.sql');
like($err, qr{^lockbench: unexpected argument 'my\.sql' for verify: a strategy in a file is -s \./my\.sql\n}, 'a file without -s');
(undef, undef, $err) = lockbench('lint', spew('speed.sql', $checked =~ s/claims: exclusive/claims: speed/r));
like($err, qr/speed\.sql:3: unknown guarantee "speed" .there are exclusive, fenced, .*permits/, 'an unknown guarantee: all of them');
# A statement that leaves out items of its batch: no other worker has claimed them, so it is
# reported.
for (['left out', 'AND id % 2 = 0', qr/^20 of 40 ends of items found nothing to end, though no other worker had claimed these items: check/],
    ['none', '', qr/^(?!.*found nothing)/s]) {
    my ($name, $only, $want) = @$_;
    my $batch = spew('batch.sql', <<"SQL");
-- strategy: batch
-- shape: queue
-- claims: no-duplicate, no-loss
-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, state int NOT NULL DEFAULT 0, owner varchar(64));
-- name: put
INSERT INTO job (id) VALUES (:id);
-- name: claim
UPDATE job SET state = 1, owner = :worker WHERE id IN (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT :n) RETURNING id;
-- name: complete
UPDATE job SET state = 2 WHERE id IN (SELECT value FROM json_each(:ids)) AND owner = :worker $only RETURNING id;
-- name: teardown
DROP TABLE job;
SQL
    my (undef, $out) = lockbench('run', '-s', $batch, '-d', 'sqlite:', '-S', 'drain', '--backlog', 40, '--batch', 10, '--workers', 2,
        '--hold', 0, '--format', 'json', '-q');
    my $run = (eval { decode_json($out) } // {})->{cells}[0]{runs}[0] // {};
    is($run->{state}, 'complete', "$name: a run") or diag $out;
    like(join("\n", @{ $run->{warnings} // [] }), $want, "$name: told of");
}

done_testing();
