#!/usr/bin/env perl
# --history-limit: completed items are judged and dropped while the run goes on. The verdicts stay,
# also that of a queue which hands a completed item out again much later.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $queue = <<'SQL';
-- strategy: come-back
-- shape: queue
-- summary: completed items, or one of them, come back after some seconds
-- claims: no-duplicate, no-loss, bounded-claim, owner-release

-- name: setup [sqlite]
CREATE TABLE job (id integer PRIMARY KEY, state text NOT NULL DEFAULT 'new', worker text, done real);

-- name: put [sqlite]
INSERT INTO job (id) WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :n) SELECT :id + i FROM n;

-- name: claim [sqlite]
UPDATE job SET state = 'taken', worker = :worker WHERE id IN (
    SELECT id FROM job WHERE state = 'new' OR (@AGAIN@ AND state = 'done' AND julianday('now') - done > 9.0 / 86400)
    ORDER BY id LIMIT :n) RETURNING id;

-- name: complete [sqlite]
UPDATE job SET state = 'done', worker = NULL, done = julianday('now') WHERE id = :id AND state = 'taken' AND worker = :worker;

-- name: free [sqlite]
UPDATE job SET state = 'new', worker = NULL WHERE id = :id AND state = 'taken' AND worker = :worker;

-- name: teardown [sqlite]
DROP TABLE job;
SQL
spew('right.sql', $queue =~ s/\@AGAIN\@/id < 0/r);
spew('again.sql', $queue =~ s/\@AGAIN\@/id = 5/r);

# In 12 s, items of the first seconds are settled when one of them comes back.
sub run_of {
    my ($file, $duration, @options) = @_;
    my ($status, $out, $err) = lockbench('run', '-s', scratch() . "/$file", '--workers', 3, '--producers', 1, '--rate', '800/s', '--hold', 0, '--poll', '2ms',
        '--poll-max', '10ms', '--warmup', 0, '--duration', $duration, '--no-drain', '--progress-bound', '0', '-q', '--format', 'json', @options);
    my $result = eval { decode_json($out) };
    ok($result, "$file @options: runs") or diag("status $status: $err");
    my $cell = $result->{cells}[0];
    return ($status, $cell->{runs}[0], $cell->{guarantees});
}

my ($status, $run, $guarantees) = run_of('right.sql', '12s', '--history-limit', '8k');
isnt($status, 1, 'a right queue: nothing is violated');
cmp_ok($run->{events_settled}, '>', 0, 'a right queue: items were dropped');
is($guarantees->{'no-duplicate'}{verdict}, 'held', 'a right queue: no-duplicate');
is($guarantees->{'no-duplicate'}{tested}, $run->{measures}{claims}, 'a right queue: every claim is counted');

($status, $run, $guarantees) = run_of('right.sql', '3s', '--history-limit', '0');
is($run->{events_settled}, 0, 'with 0 nothing is dropped');

($status, $run, $guarantees) = run_of('again.sql', '12s', '--history-limit', '2k');
is($status, 1, 'an item that comes back: exit status');
cmp_ok($run->{events_settled}, '>', 0, 'an item that comes back: others were dropped');
is($guarantees->{'no-duplicate'}{verdict}, 'violated', 'an item that comes back: no-duplicate');
like(
    $guarantees->{'no-duplicate'}{witnesses}[0]{text},
    qr/^item 5 was claimed by worker \d at \d[\d.]* \w+, after it had been completed, in a part of the record that was judged and dropped$/,
    'an item that comes back: its first claim had been dropped'
);

# A history that is kept whole. A lock makes thousands of events in a second.
my @lock = ('run', '-s', 'lease-version', '--workers', 2, '--hold', 0, '--warmup', 0, '--duration', '1s', '-q');
for my $case ([100, 1], [0, 0], ['1000M', 0]) {
    my ($limit, $says) = @$case;
    my ($lock_status, $out, $err) = lockbench(@lock, '--history-limit', $limit, '--format', 'json', '--format', "text:" . scratch() . "/text-$limit");
    my $result = eval { decode_json($out) };
    my $because = $result->{cells}[0]{runs}[0]{events_kept_because};
    is($because, $says ? "a lock's holds are compared with each other" : undef, "a lock, --history-limit $limit: the reason") or diag $err;
    my $line = qr/^history: lease-version on sqlite, \S+: \S+ of \S+ events were kept\s+until\s+the\s+end/m;
    my $text = slurp(scratch() . "/text-$limit");
    $says ? like($text, $line, "a lock, --history-limit $limit: a line") : unlike($text, qr/^history:/m, "a lock, --history-limit $limit: no line");
}

for my $bad ('many', '-1', '2.5') {
    my ($bad_status, $out, $err) = lockbench('run', '-s', 'skip-locked', "--history-limit=$bad");
    is($bad_status, 2, "--history-limit=$bad: exit status");
    is($err, "lockbench: option --history-limit: '$bad' is no number of events, such as 500k, or 0\n", "--history-limit=$bad: one line");
}
done_testing();
