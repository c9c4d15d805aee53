#!/usr/bin/env perl
# Keys that make a load harder do what they say: rows are really locked, dead rows really stay (the
# server's own VACUUM says so), resources are really chosen unevenly.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my @uris = split /\n/, $ENV{LB_TEST_URIS} // '';
my ($postgres) = grep { /^postgres/ } @uris;
my ($mariadb) = grep { /^mariadb/ } @uris;

# --- zipf: the resources that were granted, by a chi-square test against the law. Any number of workers
# may want the same one: each draw leads to one grant but for those under way at the end.
my $seed = $ENV{LB_TEST_SEED} // 1;
my ($status, $out, $err) = lockbench('run', '-s', 'pthread-mutex', '--workers', '4', '--resources', '10', '--zipf', '1',
    '--count', '5000', '--duration', '0', '--hold', '0', '--think', '0', '--warmup', '0', '--quiet', '--keep-history', '-o',
    scratch() . '/zipf', '--seed', $seed);
is($status, 0, 'zipf: a run') or diag $err;
my ($history) = glob scratch() . '/zipf/*/*.lbh';
my (@count, $n);
open my $pipe, '-|', $ENV{LOCKBENCH}, 'check', $history, '--export', 'jsonl' or die;
while (my $line = <$pipe>) {
    my $event = decode_json($line);
    next if ($event->{f} // '') ne 'acquire' || $event->{type} ne 'ok';
    $count[$event->{object} // 0]++;
    $n++;
}
close $pipe;
my ($sum, $chi) = (0, 0);
$sum += 1 / $_ for 1 .. 10;
for my $k (1 .. 10) {
    my $expected = $n / $k / $sum;
    $chi += (($count[$k - 1] // 0) - $expected)**2 / $expected;
}
# 9 degrees of freedom: above 45 once in a million.
cmp_ok($n, '>=', 19_990, 'zipf: every operation was granted');
cmp_ok($chi, '<', 45, "zipf: as the law says (seed $seed: @count)");
my $flat = 0;
$flat += ($_ - $n / 10)**2 / ($n / 10) for @count;
cmp_ok($flat, '>', 1000, 'zipf: and the test sees what is even');

# --- SQLite has neither.
for my $key (['locked-ahead', qr/: who writes locks the whole database/], ['dead-rows', qr/: row versions for an old snapshot are kept/]) {
    ($status, undef, $err) = lockbench('run', '-s', 'skip-locked', "--$key->[0]", '50', '--backlog', '100', '--quiet');
    is($status, 2, "$key->[0] on SQLite");
    like($err, qr/$key->[0] has no meaning on SQLite$key->[1]/, '... and why');
}
for my $wrong (['--locked-ahead', '200'], ['--locked-ahead', '10'], ['--dead-rows', '10', '--processes', '2']) {
    ($status, undef, $err) = lockbench('run', '-s', 'skip-locked', '--backlog', '100', @$wrong, '--quiet');
    is($status, 2, "@$wrong: usage");
    like($err, qr/locked-ahead: from 20 to the backlog|not with processes/, '... and why');
}

# --- durability is the target's, and the server says so.
for my $case (['sqlite:?synchronous=off', 'synchronous', 'off'], ['sqlite:?synchronous=full', 'synchronous', 'full'],
    ['sqlite:?journal=delete', 'journal_mode', 'delete'],
    defined $postgres ? ["$postgres&options=-c%20synchronous_commit%3Doff", 'synchronous_commit', 'off'] : ()) {
    my ($uri, $fact, $value) = @$case;
    ($status, $out, $err) = lockbench('run', '-s', 'lock-row', '-d', $uri, '--count', '5', '--duration', '0', '--progress-bound', '10m', '--warmup', '0',
        '--quiet', '--format', 'json');
    is(eval { decode_json($out)->{cells}[0]{runs}[0]{server_settings}{$fact} }, $value, "durability: $fact=$value") or diag $err;
}

# --- statements after the set-up: the server has what they made, and the result tells them.
my @setup = ('run', '-s', 'lock-row', '--count', '5', '--duration', '0', '--progress-bound', '10m', '--warmup', '0', '--quiet', '--format', 'json', '--after-setup');
($status, undef, $err) = lockbench(@setup, spew('wrong.sql', "CREATE INDEX extra ON no_such_table (owner);\n"));
is($status, 3, 'after-setup: a mistake');
like($err, qr/--after-setup: .*no_such_table/, '... and the engine\'s reason');
($status, undef, $err) = lockbench(@setup, scratch() . '/none.sql');
is($status, 2, 'after-setup: no such file');
like($err, qr/option --after-setup: \S+none\.sql: No such file/, '... and which');
SKIP: {
    skip 'LB_TEST_URIS names no PostgreSQL', 4 if !defined $postgres;
    my $psql = sub { return scalar `psql -XAtq -c "$_[0]" '$postgres' 2>&1` };
    my $tune = spew('tune.sql', "ALTER TABLE TABLE_NAME SET (fillfactor = 37); CREATE INDEX knob_extra ON TABLE_NAME (name);\n");
    my ($table) = slurp("$ENV{LB_SOURCE}/sql/lock-row/postgres.sql") =~ /CREATE TABLE (\w+)/;
    $tune = spew('tune.sql', slurp($tune) =~ s/TABLE_NAME/$table/gr);
    ($status, $out, $err) = lockbench(@setup, $tune, '-d', $postgres, '--keep');
    is($status, 0, 'after-setup: PostgreSQL') or diag $err;
    my $json = eval { decode_json($out)->{cells}[0] } // {};
    is($json->{after_setup}, slurp($tune), '... and the result has the text');
    like($json->{reproduce}, qr/ --after-setup \S+tune\.sql /, '... and the command the file');
    is($psql->("SELECT array_to_string(reloptions, ',') FROM pg_class WHERE relname = '$table' AND reloptions IS NOT NULL LIMIT 1"),
        "fillfactor=37\n", '... and the server the fillfactor');
}

# --- locked rows: SKIP LOCKED claims what is not locked, and the rest once it is free: nothing is lost.
my @drain = ('-S', 'drain', '--workers', '2', '--backlog', '150', '--duration', '0', '--quiet', '--format', 'json');
for my $uri (grep { defined } $postgres, $mariadb) {
    my ($engine) = $uri =~ /^(\w+)/;
    my %items;
    for my $locked (0, 60) {
        ($status, $out, $err) = lockbench('run', '-s', 'skip-locked', '-d', $uri, @drain, '--locked-ahead', $locked);
        is($status, 0, "$engine, $locked locked: held") or diag $err;
        my $cell = eval { decode_json($out)->{cells}[0] } // {};
        $items{$locked} = $cell->{runs}[0]{items};
        is($cell->{guarantees}{'no-loss'}{verdict}, 'held', "$engine, $locked locked: nothing is lost");
    }
    # The locks go when nothing is counted any more.
    is($items{0}, 150, "$engine: none locked: all were claimed");
    is($items{60}, 90, "$engine: those that were locked could not be claimed");
    # A claim that waits for rows gets none of them while they are locked.
    ($status, $out, $err) = lockbench('run', '-s', 'for-update', '-d', $uri, '-S', 'drain', '--workers', '2', '--backlog', '150',
        '--locked-ahead', '60', '--no-drain', '--duration', '500ms', '--quiet', '--format', 'json');
    my $run = eval { decode_json($out)->{cells}[0]{runs}[0] } // {};
    is($run->{items}, 0, "$engine: FOR UPDATE waits for them") or diag $err;
}

# --- dead rows: VACUUM finds them while the run lasts, and cannot remove them.
SKIP: {
    skip 'LB_TEST_URIS names no PostgreSQL', 4 if !defined $postgres;
    my $psql = sub { return scalar `psql -XAtq -c "$_[0]" '$postgres' 2>&1` };
    my $run = start('run', '-s', 'skip-locked', '-d', $postgres, '-S', 'steady', '--backlog', '10', '--dead-rows', '700',
        '--duration', '10m', '--quiet');
    my $table = '';
    for (1 .. 3000) {
        $table = $psql->("SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            . " JOIN pg_stat_user_tables s ON s.relid = c.oid WHERE n.nspname LIKE 'lockbench_skip_locked%' AND s.n_tup_upd + s.n_tup_del >= 700 AND EXISTS (SELECT 1 FROM"
            . " pg_stat_activity WHERE application_name LIKE '%worker 0%') ORDER BY n_tup_ins DESC LIMIT 1");
        chomp $table;
        last if $table =~ /\S\.\S/;
        select undef, undef, undef, 0.1;
    }
    like($table, qr/^\S+\.\S+$/, 'dead rows: the table is there');
    my $said = $psql->("VACUUM (VERBOSE) $table");
    my ($dead) = $said =~ /(\d+) (?:are )?dead (?:but not yet removable|row versions cannot be removed yet)/;
    cmp_ok($dead // 0, '>=', 700, 'dead rows: VACUUM cannot remove them') or diag $said;
    kill INT => $run->{pid};
    ($status, undef, $err) = finish($run);
    is($status, 130, 'dead rows: the run ends') or diag $err;
    is($psql->("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE '%snapshot%'"), "0\n",
        'dead rows: and its sessions');
}

# --- put-batch: a producer's statement puts N items with consecutive ids; a file that puts one item
# per statement does so for each, and each may be refused by itself. Nothing is lost, and no other
# item appears.
my $one = spew('one.sql', <<'SQL');
-- strategy: one
-- shape: queue
-- claims: no-duplicate, no-loss
-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, state int NOT NULL DEFAULT 0);
-- name: put
INSERT INTO job (id) VALUES (:id);
-- name: claim [sqlite]
UPDATE job SET state = 1 WHERE id IN (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT :n) RETURNING id;
-- name: complete
UPDATE job SET state = 2 WHERE id = :id AND state = 1;
SQL
for (['skip-locked', 50], [$one, 1]) {
    my ($strategy, $each) = @$_;
    my $folder = scratch() . "/puts$each";
    ($status, $out, $err) = lockbench('run', '-s', $strategy, '-d', 'sqlite:', '-S', 'steady', '--producers', '2', '--put-batch', '50',
        '--put-interval', '0', '--batch', '50', '--hold', '0', '--count', '10', '--backlog', '7', '--duration', '10m', '--warmup', '0',
        '--quiet', '--keep-history', '-o', $folder);
    is($status, 0, "put-batch with $each an operation: a run") or diag $err;
    my ($file) = glob "$folder/*/*.lbh";
    open my $events, '-|', $ENV{LOCKBENCH}, 'check', $file, '--export', 'jsonl' or die;
    my @puts = map { [$_->{value}, $_->{arg} // 1] } grep { ($_->{f} // '') eq 'put' && $_->{type} eq 'ok' && $_->{value} > 7 }
        map { decode_json($_) } <$events>;
    close $events;
    is(join(' ', sort { $a <=> $b } keys %{{map { $_->[1] => 1 } @puts}}), $each, '... of so many items');
    my @ids = sort { $a <=> $b } map { my $put = $_; map { $put->[0] + $_ } 0 .. $put->[1] - 1 } @puts;
    is(scalar(@ids), 1000, '... two producers, ten times fifty');
    is("$ids[0] $ids[-1] " . (grep { $ids[$_] == $ids[$_ - 1] } 1 .. $#ids), '8 1007 0', '... behind the backlog, each once');
}

done_testing();
