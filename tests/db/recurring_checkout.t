#!/usr/bin/env perl
# Recurring check-out: two services, records that are due again after a period. No record is claimed by
# two at once, and none before its period; queues that do so are caught. On SQLite always, on the
# servers in LB_TEST_URIS as far as they are there.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my %engine = engine_uris();

sub begin
{
    my ($engine, $strategy, @args) = @_;
    return start('run', '-s', $strategy, '-S', 'recurring-checkout', '-d', $engine{$engine}, '--backlog', '200',
        '--period', '500ms', '--duration', '6s', '--format', 'json', '--quiet', '--seed', $ENV{LB_TEST_SEED} // 1, @args);
}

# Exit status, the cell's run, and the finding on no-duplicate.
sub outcome
{
    my ($status, $out, $err) = finish($_[0]);
    my $cell = eval { decode_json($out)->{cells}[0] } or diag($err);
    my $finding = $cell->{guarantees}{'no-duplicate'};
    return ($status, $cell->{runs}[0], $finding, $out);
}

# A queue of our own for SQLite: when complete items are due, and which are taken.
sub recurring
{
    my ($name, $due, $also) = @_;
    return spew("$name.sql", <<"SQL");
-- strategy: $name
-- shape: queue
-- claims: no-duplicate, no-loss

-- name: setup
CREATE TABLE record (id bigint PRIMARY KEY, payload text, state text NOT NULL DEFAULT 'new',
    at real NOT NULL DEFAULT (julianday('now')));
-- name: put
WITH RECURSIVE items (id) AS (SELECT :id UNION ALL SELECT id + 1 FROM items WHERE id < :id + :n - 1)
INSERT INTO record (id, payload) SELECT id, :payload FROM items;
-- name: claim
UPDATE record SET state = 'active', at = julianday('now')
WHERE id IN (SELECT id FROM record
             WHERE state = 'new' OR $also OR (state = 'done' AND at <= julianday('now') - $due / 86400000.0)
             ORDER BY at, id LIMIT :n)
RETURNING id, payload;
-- name: complete
UPDATE record SET state = 'done', at = julianday('now') WHERE id = :id AND state = 'active';
-- name: teardown
DROP TABLE record;
SQL
}

# The check-outs that claim records: by skipping locked rows, behind a gate, group by group; the task list
# and the claims of libraries that know recurring work. (On MariaDB all but skip-locked and lease-queue wait
# for, or are refused by, rows that others complete, and get through a fraction of it.)
my @libraries = qw(cas nowait lease-queue);
my $few = 30; # records: a slow machine gets round more than once as well
for my $strategies ({ sqlite => ['skip-locked'], postgres => ['skip-locked', 'gatekeeper', 'listen-notify'],
        mariadb => ['skip-locked'] }, { sqlite => \@libraries, postgres => \@libraries, mariadb => ['lease-queue'] }) {
    my %run;
    for my $engine (sort keys %engine) {
        $run{"$engine $_"} = begin($engine, $_, '--backlog', $few) for @{$strategies->{$engine}};
    }
    for my $one (sort keys %run) {
        my ($status, $run, $finding) = outcome($run{$one});
        is($status, 0, "$one succeeds");
        like($run->{options}, qr/\brecurring=yes\b/, "$one: as recurring work");
        is($finding->{verdict}, 'held', "$one: by one at a time, and only when due");
        cmp_ok($run->{items} // 0, '>', $few, "$one: again and again");
        cmp_ok($run->{items} // 0, '<=', $few * (int($run->{elapsed_ns} / 500e6) + 1), "$one: but not more often than due");
    }
}

# Each record takes 40 ms and is due every 500 ms: 200 of them need 16 workers, and 4 fall behind, on any machine.
{
    my ($status, $run, $finding) = outcome(begin('sqlite', 'skip-locked', '--workers', '4', '--hold', '40ms'));
    my $text = $run->{proof}{text};
    is($status, 0, 'who falls behind breaks nothing');
    is($run->{proof}{verdict}, 'not tested', 'and is not judged by it');
    like($text, qr/^falls behind: 400 records due per second, /, 'but it is told');
    my ($needed) = $text =~ /at least (\d+) workers, and there are 4$/;
    cmp_ok($needed // 0, '>=', 16, 'with how many workers it would need') or diag $text;
    my ($done) = $text =~ /second, ([0-9.]+) done/;
    cmp_ok($done, '<=', 100, 'and no more done than four can');
}

my %own = (right => begin('sqlite', recurring('right', ':period_ms', '0')),
    early => begin('sqlite', recurring('early', ':period_ms / 2', '0')),
    twice => begin('sqlite', recurring('twice', ':period_ms', "state = 'active'")));
my ($status, $run, $finding, $out) = outcome($own{right});
is($status, 0, 'a queue of our own succeeds');
is($finding->{verdict}, 'held', 'and holds');
($status, $run, $finding, $out) = outcome($own{early});
is($status, 1, 'records that are due too early fail');
is($finding->{verdict}, 'violated', 'and are found');
like($out, qr/before it was due again/, 'in plain words');
($status, $run, $finding, $out) = outcome($own{twice});
is($status, 1, 'records that two have at once fail');
is($finding->{verdict}, 'violated', 'and are found');

($status, undef, my $err) = lockbench('run', '-s', 'move-table', '-S', 'recurring-checkout');
is($status, 2, 'a queue without a period is refused');
like($err, qr/knows no period/, 'and why');
($status, undef, $err) = lockbench('run', '-s', 'skip-locked', '-S', 'recurring-checkout', '--drain');
is($status, 2, 'and so is to wait until it is empty');
like($err, qr/never empty/, 'and why');

done_testing();
