#!/usr/bin/env perl
# Recorded runs of queues, right and broken: where a part of the history is settled and dropped at two
# random times, the verdicts are those of the whole history.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

use constant TIMES => 60;

# A queue in one table. Its claim and its complete are parts of the test.
sub queue
{
    my ($claim, $complete) = @_;
    return <<"SQL";
-- strategy: settled
-- shape: queue
-- summary: a queue whose record is settled
-- claims: no-duplicate, no-loss, bounded-claim, owner-release, once

-- name: setup [sqlite]
CREATE TABLE job (id integer PRIMARY KEY, state text NOT NULL DEFAULT 'new', worker text, n integer NOT NULL DEFAULT 0);

-- name: put [sqlite]
INSERT INTO job (id) WITH RECURSIVE k (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i + 1 < :n) SELECT :id + i FROM k;

-- name: claim [sqlite]
UPDATE job SET state = 'taken', worker = :worker, n = n + 1 WHERE id IN (SELECT id FROM job WHERE $claim ORDER BY id LIMIT :n) RETURNING id;

-- name: complete [sqlite]
UPDATE job SET state = 'done', worker = NULL WHERE id = :id AND $complete;

-- name: free [sqlite]
UPDATE job SET state = 'new', worker = NULL WHERE id = :id AND state = 'taken' AND worker = :worker;

-- name: teardown [sqlite]
DROP TABLE job;
SQL
}

# Each item is granted to the second claim that finds it: half of the claims are refused.
my $refuses = queue("state = 'new'", "state = 'taken' AND worker = :worker") =~ s/SET state = 'taken', (.*?n = n \+ 1)/SET state = CASE n WHEN 0 THEN 'new' ELSE 'taken' END, $1/r
    =~ s/LIMIT :n\) RETURNING id/LIMIT :n) RETURNING id, n > 1 AS granted/r;

my $mine = "state = 'taken' AND worker = :worker";
my @queues = (
    ['right', queue("state = 'new'", $mine), 'no-duplicate held'],
    # Item 57, once, after 300 others: at most times between, it is among the dropped ones.
    ['refused claims', $refuses, 'no-duplicate held'],
    ['done item again', queue("state = 'new' OR (state = 'done' AND id = 57 AND n < 2 AND (SELECT max(id) FROM job) > 357)", $mine), 'no-duplicate violated'],
    ['taken items again', queue("state = 'new' OR (state = 'taken' AND id % 50 = 7 AND n < 2)", $mine), 'no-duplicate violated'],
    ['lost items', queue("state = 'new' AND id % 50 <> 7", $mine), 'no-loss violated'],
);
my @loads = (
    ['one at a time', '--batch', 1],
    ['batches', '--batch', 5],
    ['some freed, and pauses', '--free', '0.2', '--fault', 'pause', '--fault-interval', '300ms', '--fault-length', '50ms'],
);
for my $queue (@queues) {
    my ($name, $sql, $verdict) = @$queue;
    (my $file = "$name.sql") =~ tr/ /-/;
    spew($file, $sql);
    for my $load (@loads) {
        my ($how, @options) = @$load;
        # A free counts as a time that the item was taken, and a pause may keep the queue from being drained.
        next if $name =~ /lost items|done item|refused/ && $how =~ /freed/;
        next if $name =~ /refused/ && $how eq 'batches';    # a part of one would be granted
        my $dir = scratch() . "/$name-$how" =~ tr/ ,/__/r;
        my ($status, $out, $err) = lockbench('run', '-s', scratch() . "/$file", '-S', 'steady', '--workers', 3, '--producers', 1, '--hold', $name =~ /taken/ ? '3ms' : 0, '--duration', '1s',
            '--warmup', 0, '--put-interval', '500us', '--poll', '200us', '--poll-max', '1ms', '--progress-bound', 0, '--keep-history', '-o', $dir, '-q', @options);
        my ($history) = glob "$dir/*/*.lbh";
        ok(defined $history, "$name, $how: is recorded") or diag $out, $err;
        next if !defined $history;
        my $told = `"$ENV{LB_BUILD}/tests/tools/settle_history" "$history" @{[TIMES]} 1 2>&1`;
        is($?, 0, "$name, $how: the same verdicts") or diag $told;
        like($told, qr/^\Q$verdict\E$/m, "$name, $how: $verdict") or diag $told;
        my ($n_dropped) = $told =~ /, (\d+) with a dropped part$/m;
        my %untold = $told =~ /^(\S+) untold (\d+) times$/mg;
        cmp_ok($n_dropped // 0, '>', TIMES / 2, "$name, $how: parts were dropped") or diag $told;
        if ($name eq 'done item again') {
            # A claim that was under way at the cut is undecided: of microseconds in a second.
            cmp_ok($untold{'bounded-claim'} // 0, '>', 0, "$name, $how: it was dropped, and other guarantees are left open") or diag $told;
            cmp_ok($untold{'no-duplicate'} // 0, '<=', TIMES / 10, "$name, $how: no-duplicate is decided") or diag $told;
        } else {
            is(join(' ', sort keys %untold), '', "$name, $how: nothing is left open") or diag $told;
        }
    }
}
done_testing();
