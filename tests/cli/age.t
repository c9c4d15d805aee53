#!/usr/bin/env perl
# lockbench age: counts, and not the clock, distinguish broken and repaired queues; aged rows
# are the rows that the protocol leaves; other tables are refused with the reason.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json);
use Lockbench;
use POSIX ();
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/aged";
my @uris = ('sqlite:', grep { !/^sqlite:/ && length } split /\n/, $ENV{LB_TEST_URIS} // '');
# A database of its own: a vacuum leaves the dead rows that an open transaction of another test in the same one may see.
/^postgres/ and ($_) = own_database($_) for @uris;
my ($postgres) = grep { defined && /^postgres/ } @uris;
@uris = grep { defined } @uris;
my ($mariadb) = grep { /^mariadb/ } @uris;

sub age { return lockbench('age', @_) }
sub aged
{
    my ($status, $out, $err) = age(@_, '--json');
    my $answer = eval { decode_json($out) } or diag("no JSON: $out$err");
    return ($status, $answer, $err);
}

# --- pairs ---
my @broken = grep { !/repaired/ } glob "$folder/*.sql";
cmp_ok(scalar @broken, '>=', 12, 'there are controls');
for my $uri (@uris) {
    my ($engine) = $uri =~ /^(\w+)/;
    my %chosen = (sqlite => qr/^(?!.*walks-dead)/, postgresql => qr/no-index|walks-de|stale-generic|ends-without/, mariadb => qr/no-index|scans-and-locks|walks-dead/);
    for my $path (grep { /$chosen{$engine}/ } @broken) {
        my ($name) = $path =~ m{([^/]+)\.sql$};
        my $state = $name =~ /delayed|suspended|stale/ ? 'delayed' : $name =~ /dead/ ? 'dead' : $name =~ /failed/ ? 'failed' : 'finished';
        my $op = $name =~ /^ends/ ? 'complete' : 'claim';
        my @flags = ('-d', $uri, '--rows', 4000, '--aged', $state);
        my ($status, $out, $err) = age('-s', $path, @flags);
        is($status, 4, "$name on $engine grows") or diag "$out$err";
        like($out, qr/^\Q$name\E on \w+: $op reads [\d.]+ (?:steps|pages|rows) more for each 1,000 $state items\.$/m, '... in words');
        ($status, $out, $err) = age('-s', $path =~ s/\.sql$/-repaired.sql/r, @flags);
        is($status, 0, "$name-repaired on $engine does not") or diag "$out$err";
        like($out, qr/^\Q$name\E-repaired on \w+: a claim costs the same however many $state items/, '... in words');
    }
}

# --- figures ---
my ($status, $answer) = aged('-s', "$folder/no-index.sql", '--rows', 4000, '--aged', 'finished', '--slo', 'p99<1s', '--demand', '300/s');
my $claim = $answer->{aged}{finished}{operations}{claim};
is($status, 4, 'JSON: the same exit status');
is_deeply([map { $_->{items} } @{ $claim->{points} }], [248, 1000, 4000], 'a fourth each, of whole samples');
is($claim->{grows}, 'linear', 'the law');
cmp_ok(abs($claim->{exponent} - 1), '<', 0.1, 'its exponent');
cmp_ok($claim->{exponent_least}, '<=', 1, '... in its interval');
cmp_ok($claim->{points}[2]{cost} - $claim->{points}[1]{cost}, '>=', 3000, 'every finished item is read');
ok(exists $answer->{aged}{finished}{slo_missed_from_items}, 'the SLO, in items');
ok(exists $answer->{aged}{finished}{slo_missed_after_days}, '... and in days');
is($answer->{aged}{finished}{operations}{put}{grows}, 'flat', 'a put does not grow');
my (undef, $again) = aged('-s', "$folder/no-index.sql", '--rows', 4000, '--aged', 'finished');
is_deeply([map { $_->{cost} } @{ $again->{aged}{finished}{operations}{claim}{points} }], [map { $_->{cost} } @{ $claim->{points} }],
    'the counts are the same again');

cmp_ok($claim->{points}[2]{rows_of_full_scans}, '>=', 4000, 'SQLite: the rows of full scans');
is($claim->{points}[2]{sorts}, 0, '... and sorts, of which the order of the key needs none');

# --- rows that are locked, dead rows ---
SKIP: {
    skip 'no MariaDB', 4 if !$mariadb;
    for my $case (['scans-and-locks', 4000, 1e6], ['scans-and-locks-repaired', 1, 100]) { # deleted rows that are not purged yet, too
        my ($name, $least, $most) = @$case;
        (undef, my $locking) = aged('-s', "$folder/$name.sql", '-d', $mariadb, '--rows', 4000, '--aged', 'finished');
        my $locked = $locking->{aged}{finished}{operations}{claim}{points}[-1]{locked_rows};
        cmp_ok($locked, '>=', $least, "$name: rows that a claim locks, at least");
        cmp_ok($locked, '<=', $most, '... at most');
    }
}
SKIP: {
    skip 'no PostgreSQL', 1 if !$postgres;
    (undef, my $locking) = aged('-s', "$folder/scans-and-locks.sql", '-d', $postgres, '--rows', 256, '--aged', 'finished');
    is($locking->{aged}{finished}{operations}{claim}{points}[-1]{locked_rows}, 1, 'PostgreSQL: a scan locks the row that it takes');
}
my ($refused, $nothing) = age('-s', "$folder/no-index.sql", '-d', 'sqlite:', '--aged', 'dead', '--rows', 256);
is($refused, 5, 'SQLite has no dead rows');
like($nothing, qr/^Not measured with dead items: SQLite keeps no dead rows: it removes a row at once$/m, '... in words');

# --- dead rows that another session keeps ---
SKIP: {
    skip 'no PostgreSQL', 5 if !$postgres;
    my ($kept) = own_database($ENV{LB_TEST_URIS} =~ /^(postgres.*)/m) or skip 'no right to create a database', 5;
    pipe my $out, my $in or die "pipe: $!\n";
    my $pid = fork() // die "fork: $!\n";
    if ($pid == 0) {
        open STDIN, '<&', $out or POSIX::_exit(99);
        open STDOUT, '>', scratch() . '/transaction' or POSIX::_exit(99);
        close $in;
        exec 'psql', '-XAtq', $kept or POSIX::_exit(99);
    }
    close $out;
    syswrite $in, "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT 'open', txid_current();\n";
    ok(wait_for(sub { return slurp(scratch() . '/transaction') =~ /open/ }), 'a transaction is open in the database');
    my @delayed = ('-s', 'lease-queue', '-d', $kept, '--rows', 4000, '--aged', 'delayed');
    my ($status, $said) = age(@delayed);
    is($status, 5, 'what grows with dead rows alone is not judged') or diag $said;
    like($said, qr/^Not measured with delayed items: another session has a transaction open in this database, which keeps dead rows/m, '... with the reason');
    close $in;
    waitpid $pid, 0;
    ($status, $said) = age(@delayed);
    is($status, 0, 'without it, the queue does not grow') or diag $said;
    ($status) = age('-s', "$folder/walks-dead.sql", '-d', $kept, '--rows', 4000, '--aged', 'dead');
    is($status, 4, 'dead rows of the run itself are judged');
}

# --- the missing index ---
# Either is a good answer on PostgreSQL: other sessions keep dead rows from the vacuum, and these decide between the two.
my $missing = { sqlite => qr/^job \(status, id\)$/, postgresql => qr/^job \((?:id\) WHERE status = 'new'|status, id\))$/, mariadb => qr/^job \(status, id\)$/ };
for my $uri (@uris) {
    my ($engine) = $uri =~ /^(\w+)/;
    ($status, my $with) = aged('-s', "$folder/no-index.sql", '-d', $uri, '--rows', 16000, '--aged', 'finished');
    my $finished = $with->{aged}{finished};
    like($finished->{missing_index}, $missing->{$engine}, "$engine: the index that is missing");
    cmp_ok($finished->{cost_with_index} * 5, '<', $finished->{operations}{claim}{points}[-1]{cost}, '... and what a claim costs with it');
}
(undef, my $words) = age('-s', "$folder/no-index.sql", '--rows', 4000, '--aged', 'finished');
like($words, qr/^  Missing: CREATE INDEX job_claim ON job \(status, id\);\n  A claim reads \d+ steps with it, and \d+ without, at 4000 items\.$/m,
    'ready to paste');
(undef, my $sorting) = aged('-s', "$folder/sorts-all.sql", '--rows', 4000, '--aged', 'finished');
cmp_ok($sorting->{aged}{finished}{operations}{claim}{points}[2]{sorts}, '>', 0, 'a claim that sorts');
is($sorting->{aged}{finished}{missing_index}, undef, 'an index that does not help is not named');
(undef, my $repaired) = aged('-s', "$folder/no-index-repaired.sql", '--rows', 4000, '--aged', 'finished');
is($repaired->{aged}{finished}{missing_index}, undef, 'nor is any where the claim does not grow');

# The cost at 1,000,000 from at most 64,000: for this statement the steps are exact.
cmp_ok($claim->{at_1000000}, '>', 3.9e6, 'predicted');
cmp_ok($claim->{at_1000000}, '<', 4.2e6, '... within a few per cent');

# --- a plan that changes beyond the largest size ---
my ($small, $large);
SKIP: {
    skip 'no PostgreSQL', 4 if !$postgres;
    local $ENV{PGOPTIONS} = '-c random_page_cost=40'; # a scan of the whole table stays cheap for longer
    my @asked = ('-s', "$folder/no-index-repaired.sql", '-d', $postgres, '--aged', 'finished', '--rows');
    (undef, $small) = aged(@asked, 1000);
    my $complete = $small->{aged}{finished}{operations}{complete};
    cmp_ok($complete->{plan_may_change_at} // 0, '>', 1000, 'a change of the plan beyond the largest size is announced');
    like($complete->{plan_may_become}, qr/Index Scan by job_new of job/, '... with the other plan');
    (undef, my $said) = age(@asked, 1000);
    like($said, qr/^From about \d+ finished items on, complete may get another plan.*\n  now .*Seq Scan.*\n  then .*Index Scan/m, '... in words');
    (undef, $large) = aged(@asked, 16000);
    my $points = $large->{aged}{finished}{operations}{complete}{points};
    is($points->[-1]{plan}, $complete->{plan_may_become}, '... and is found where it was announced');
}

# --- a plan that changes within the sizes; on SQLite also announced ---
my $flips = spew('flips.sql', <<'SQL');
-- strategy: flips
-- shape: queue
-- claims: no-duplicate
-- name: setup [sqlite]
CREATE TABLE job (id bigint PRIMARY KEY, status varchar(10) NOT NULL);
CREATE TABLE ready (job_id bigint PRIMARY KEY, kind int NOT NULL);
INSERT INTO ready WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 2000) SELECT 1000000 + n, 1 FROM s;
-- name: setup [mariadb]
CREATE TABLE job (id bigint PRIMARY KEY, status varchar(10) NOT NULL);
CREATE TABLE ready (job_id bigint PRIMARY KEY, kind int NOT NULL);
INSERT INTO ready SELECT 1000000 + seq, 1 FROM seq_1_to_2000;
-- name: put tx=one
-- answer: row
INSERT INTO job VALUES (:id, 'new');
INSERT INTO ready VALUES (:id, 1);
-- name: claim tx=one
-- answer: row
-- require: row
SELECT job.id AS id FROM job JOIN ready ON ready.job_id = job.id WHERE job.status = 'new' LIMIT 1;
DELETE FROM ready WHERE job_id = :id;
UPDATE job SET status = 'taken' WHERE id = :id;
-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'taken';
-- name: teardown
DROP TABLE ready;
DROP TABLE job;
SQL
for my $uri (grep { !/^postgres/ } @uris) {
    my ($engine) = $uri =~ /^(\w+)/;
    ($status, my $said) = age('-s', $flips, '-d', $uri, '--aged', 'finished', '--rows', 16000);
    is($status, 0, "$engine: a plan that grows for few items only is no growth") or diag $said;
    my ($before, $after) = $said =~ /^With (?:4000|16000) finished items claim has another plan than with \d+:\n  before  (.*)\n  after   (.*)\n/m;
    like($before // '', qr/^(?:SCAN job|ALL of job)\b/, '... found with the plan before');
    like($after // '', qr/^(?:SCAN ready|index of ready)\b/, '... and the plan after');
}
(undef, $small) = aged('-s', $flips, '--aged', 'finished', '--rows', 1000);
my $may = $small->{aged}{finished}{operations}{claim};
cmp_ok($may->{plan_may_change_at} // 0, '>', 1000, 'SQLite: a change beyond the largest size is announced');
like($may->{plan_may_become} // '', qr/^SCAN ready\b/, '... with the other plan');
for my $case ([0.7, qr/^SCAN job\b/], [1.3, qr/^SCAN ready\b/]) {
    my ($times, $plan) = @$case;
    (undef, $large) = aged('-s', $flips, '--aged', 'finished', '--rows', int(($may->{plan_may_change_at} // 4000) * $times));
    like($large->{aged}{finished}{operations}{claim}{points}[-1]{plan}, $plan, "... which it has with $times times as many items, or not yet");
}
(undef, $small) = aged('-s', $flips, '--aged', 'finished', '--rows', 1000, '--statistics', 'stale');
ok(!exists $small->{aged}{finished}{operations}{claim}{plan_may_change_at}, 'SQLite: stale statistics change no plan');

# --- rows of several tables, keys of their own, references ---
my $side = spew('side.sql', <<'SQL');
-- strategy: side
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, status varchar(10) NOT NULL);
CREATE TABLE attempt (job_id bigint NOT NULL REFERENCES job (id), n int NOT NULL, PRIMARY KEY (job_id, n));
CREATE TABLE mark (name varchar(40) PRIMARY KEY, n int NOT NULL);
INSERT INTO mark VALUES ('jobs', 0);
CREATE INDEX job_status ON job (status, id);
-- name: put tx=one
-- answer: row
INSERT INTO job VALUES (:id, 'new');
UPDATE mark SET n = n + 1 WHERE name = 'jobs';
-- name: claim tx=one
-- answer: row
-- require: row
SELECT id FROM job WHERE status = 'new' ORDER BY id LIMIT 1;
UPDATE job SET status = 'taken' WHERE id = :id;
INSERT INTO attempt VALUES (:id, 1);
-- name: complete
UPDATE job SET status = 'done' WHERE id = :id AND status = 'taken';
-- name: count
SELECT (SELECT count(*) FROM job WHERE status = 'new') AS pending, (SELECT count(*) FROM attempt) AS active,
       (SELECT count(*) FROM job j JOIN attempt a ON a.job_id = j.id WHERE j.status = 'done') AS done, 0 AS failed
FROM mark WHERE name = 'jobs';
SQL
for my $uri (@uris) {
    my ($engine) = $uri =~ /^(\w+)/;
    ($status, $answer) = aged('-s', $side, '-d', $uri, '--rows', 4000, '--aged', 'finished');
    is($status, 0, "several tables on $engine: the claim does not grow");
    is($answer->{aged}{finished}{not_measured}, undef, '... and all rows were made');
    is($answer->{aged}{finished}{operations}{count}{grows}, 'linear', '... which count reads');
}

# --- keys that are drawn, and texts ---
my $drawn = spew('drawn.sql', <<'SQL');
-- strategy: drawn
-- shape: queue
-- claims: no-duplicate
-- name: setup [sqlite]
CREATE TABLE job (no integer PRIMARY KEY AUTOINCREMENT, item bigint NOT NULL, name text UNIQUE, status text NOT NULL DEFAULT 'new');
-- name: setup [postgres]
CREATE TABLE job (no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, item bigint NOT NULL, name text UNIQUE, status text NOT NULL DEFAULT 'new');
-- name: setup [mariadb]
CREATE TABLE job (no bigint AUTO_INCREMENT PRIMARY KEY, item bigint NOT NULL, name varchar(60) UNIQUE, status varchar(10) NOT NULL DEFAULT 'new');
-- name: put [sqlite,postgres]
INSERT INTO job (item, name) VALUES (:id, 'job ' || :id);
-- name: put [mariadb]
INSERT INTO job (item, name) VALUES (:id, concat('job ', :id));
-- name: claim tx=one
-- answer: row
-- require: row
SELECT item AS id, no FROM job WHERE status = 'new' ORDER BY no LIMIT 1;
UPDATE job SET status = 'taken' WHERE no = :no;
-- name: complete
UPDATE job SET status = 'done' WHERE item = :id AND status = 'taken';
SQL
for my $uri (@uris) {
    my ($engine) = $uri =~ /^(\w+)/;
    ($status, $answer) = aged('-s', $drawn, '-d', $uri, '--rows', 4000, '--aged', 'finished');
    is($answer->{aged}{finished}{not_measured}, undef, "drawn keys on $engine: all rows were made");
    is($status, 4, '... in front of the waiting items');
}

# --- the catalogue: a sample of it ---
($status, my $out, my $said) = age('-s', 'skip-locked,lease-queue,move-table,merge-table-lock,offset-claim,advisory-no-recheck', '-d', $postgres // 'sqlite:', '--rows', 16000);
is($status, 0, 'built-in queues have the indexes that they need') or diag "$out$said";

for my $uri (@uris) {
    my ($engine) = $uri =~ /^(\w+)/;
    ($status, $answer) = aged('-s', 'skip-locked', '-d', $uri, '--rows', 4000, '--aged', 'finished');
    is($answer->{aged}{finished}{operations}{recover}{grows}, 'flat', "skip-locked on $engine: recover does not read finished items");
}

# --- refusals ---
for my $case (
    [['--aged', 'old'], qr/option --aged: 'old' is not finished, failed, delayed/],
    [['--rows', '10'], qr/option --rows: '10' is not a number from 256 to/],
    [['--statistics', 'new'], qr/option --statistics: 'new' is not fresh, stale or default/],
    [['--slo', 'fast'], qr/option --slo/],
    [['--demand', 'poisson:3/s'], qr/option --demand: 'poisson:3\/s' is not a rate/],
    [['--format', 'tap'], qr/option --format: unknown format 'tap'/],
) {
    ($status, my $out, my $err) = age('-s', "$folder/no-index.sql", @{ $case->[0] });
    is($status, 2, "@{ $case->[0] }: refused");
    like($err, $case->[1], '... with the reason');
}
($status, $out, my $err) = age('-s', 'lock-row');
is($status, 2, 'a lock is refused');
like($err, qr/lock-row is a lock: only queues have items that age/, '... with the reason');
my $check = spew('check.sql', slurp("$folder/no-index.sql") =~ s/id bigint PRIMARY KEY/id bigint PRIMARY KEY CHECK (id > 0)/gr =~ s/no-index/check/r);
($status, $out, $err) = age('-s', $check, '--aged', 'finished', '--rows', 4000);
is($status, 5, 'rows that cannot be multiplied: nothing was measured');
like($out, qr/^Not measured with finished items: the rows of table job cannot be multiplied: .*CHECK/mi, '... with the reason');
my %series = (postgresql => 'generate_series(1, :n) AS g (n)', mariadb => '(SELECT CAST(seq AS SIGNED) AS n FROM seq_1_to_100000) AS g',
    sqlite => '(WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 100000) SELECT n FROM s) AS g');
for my $uri (@uris) {
    my ($engine) = $uri =~ /^(\w+)/;
    my $age = "-- name: age\nINSERT INTO job (id, payload, status) SELECT (SELECT min(id) FROM job) - 1000000 - g.n, payload, status\n"
        . "FROM job, $series{$engine} WHERE id = :id AND g.n <= :n;\n\n-- name: teardown";
    my $own = spew("own-$engine.sql", slurp($check) =~ s/-- name: teardown/$age/r =~ s/strategy: check/strategy: own-$engine/r =~ s/id > 0/id > 0 OR id < -1000/gr);
    ($status, $answer) = aged('-s', $own, '-d', $uri, '--aged', 'finished', '--rows', 4000);
    is($status, 4, "section age on $engine: the rows are made in the file's own words");
    my $points = $answer->{aged}{finished}{operations}{claim}{points};
    is(scalar @$points, 3, '... at each size');
    cmp_ok($points->[2]{cost} - $points->[1]{cost}, '>', 10, '... which a claim reads') or diag explain $answer;
}
my $lazy = spew('lazy.sql', slurp($check) =~ s/-- name: teardown/-- name: age\nSELECT :n, :id;\n\n-- name: teardown/r =~ s/strategy: check/strategy: lazy/r);
($status, $out, $err) = age('-s', $lazy, '--aged', 'finished', '--rows', 4000);
is($status, 5, 'a section age that makes no rows: nothing was measured');
like($out, qr/^Not measured with finished items: section age has added 0 rows for 61 copies of each of 4 items$/m, '... with the reason');
spew('lazy.sql', slurp($lazy) =~ s/SELECT :n, :id/SELECT :n, :payload/r);
($status, $out, $err) = lockbench('lint', $lazy);
is($status, 2, 'lint: a parameter that section age does not have');
like($err . $out, qr/section age: nothing fills :payload here/, '... is named');
($status, $out, $err) = age('-s', 'delete-on-claim', '--aged', 'finished', '--rows', 256);
is($status, 0, 'finished items that leave no rows cost nothing');
like($out, qr/^delete-on-claim on SQLite: no rows stay that a claim could read\.\nNo rows of finished items stay/, '... in words');

# --- Ctrl-C, in the middle of a fill ---
my $endless = start('age', '-s', "$folder/no-index.sql", '--rows', '4M', '--aged', 'finished', '--json');
wait_for(sub { return grep { (-s $_ // 0) > 8_000_000 } glob scratch() . '/lockbench-*/db*' }); # beyond the third size
kill 'INT', $endless->{pid};
($status, $out, $err) = finish($endless);
is($status, 130, 'interrupted: exit status') or diag $err;
$answer = eval { decode_json($out) } or diag("no JSON: $out");
ok($answer->{aged}{finished}{interrupted}, '... the answer says so');
cmp_ok(scalar @{ $answer->{aged}{finished}{operations}{claim}{points} }, '>=', 2, '... and has the sizes that were measured');
is($answer->{aged}{finished}{operations}{claim}{grows}, 'linear', '... and what they show');

done_testing;
