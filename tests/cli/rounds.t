#!/usr/bin/env perl
# An operator's procedures in a run (clear-error, clear-all-errors, reset-all), the count at its end beside the
# history, and sessions that only look while the queue's lock is held.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my %uri = (sqlite => 'sqlite:');
for my $uri (split /\n/, $ENV{LB_TEST_URIS} // '') {
    $uri{postgres} //= $uri if $uri =~ /^postgres/;
    $uri{mariadb} //= $uri if $uri =~ /^(?:mariadb|mysql)/;
}

sub run_of
{
    my ($status, $out, $err) = @_;
    my $json = eval { decode_json($out) };
    diag "exit status $status\n$out$err" if !defined $json;
    return ($json // {})->{cells}[0]{runs}[0] // {};
}

my @short = ('-S', 'rounds', '--backlog', '40', '--format', 'json', '--quiet');
my @rounds = map {
    my $engine = $_;
    map { { engine => $engine, name => $_->[0], run => start('run', '-s', @$_, '-d', $uri{$engine}, @short) } }
        ['nowait'], ['merge-table-lock', '--opt', 'done=keep'], ['move-table']
} sort keys %uri;
for my $round (@rounds) {
    my $run = run_of(finish($round->{run}));
    my $title = "$round->{name}, $round->{engine}";
    is($run->{proof}{name}, 'count', "$title: is counted");
    is($run->{proof}{verdict}, 'held', "$title: the count is what happened");
    my ($done, $failed) = ($run->{proof}{text} // '') =~ /count says pending 0, active 0, done (\d+), failed (\d+)/;
    is(($done // 0) + ($failed // 0), 40, "$title: of every item");
    cmp_ok($run->{items}, '>=', 3 * 40, "$title: which was claimed in each of three rounds");
}

# Queues whose operator's statements are wrong.
my $queue = <<'SQL';
-- strategy: NAME
-- shape: queue
-- claims: no-duplicate, bounded-claim

-- name: setup
CREATE TABLE q (id bigint PRIMARY KEY, class text, payload text, state text NOT NULL DEFAULT 'new');
-- name: put
WITH RECURSIVE items (id) AS (SELECT :id UNION ALL SELECT id + 1 FROM items WHERE id < :id + :n - 1)
INSERT INTO q (id, class, payload) SELECT id, :class, :payload FROM items;
-- name: claim
UPDATE q SET state = 'active' WHERE id IN (SELECT id FROM q WHERE state = 'new' ORDER BY id LIMIT :n)
RETURNING id, payload;
-- name: complete
UPDATE q SET state = 'done' WHERE id = :id AND state = 'active';
-- name: error
UPDATE q SET state = 'failed' WHERE id = :id AND state = 'active';
-- name: free
UPDATE q SET state = 'new' WHERE id = :id AND state = 'active';
-- name: clear-error
UPDATE q SET state = 'new' WHERE id = :id AND state = 'failed';
-- name: clear-all-errors
UPDATE q SET state = 'new' WHERE class = :class AND state = 'failed';
-- name: reset-all
UPDATE q SET state = 'new' WHERE class = :class AND state = 'done';
-- name: count
SELECT count(CASE WHEN state = 'new' THEN 1 END) AS pending, count(CASE WHEN state = 'active' THEN 1 END) AS active,
       count(CASE WHEN state = 'done' THEN 1 END) AS done, count(CASE WHEN state = 'failed' THEN 1 END) AS failed
FROM q WHERE class = :class;
-- name: teardown
DROP TABLE q;
SQL
my %broken = (
    right => sub { return },
    # A failed item is counted as done.
    'wrong-count' => sub { s/state = 'done' THEN 1 END\) AS done/state IN ('done', 'failed') THEN 1 END) AS done/ },
    # Nothing is brought back, but the caller gets a success.
    'lost-reset' => sub { s/WHERE class = :class AND state = 'done'/WHERE class = :class AND state = 'gone'/ },
    'lost-clear' => sub { s/WHERE class = :class AND state = 'failed';/WHERE class = :class AND state = 'gone';/ },
);
for my $name (sort keys %broken) {
    local $_ = $queue =~ s/NAME/$name/r;
    $broken{$name}->();
    my $run = run_of(lockbench('run', '-s', spew("$name.sql", $_), '-d', 'sqlite:', @short, '--error', '0.3'));
    is($run->{proof}{verdict}, $name eq 'right' ? 'held' : 'violated', "$name: the count at the end") or diag $run->{proof}{text};
}

# Impossible requests.
for my $case (['pthread-queue', [], qr/rounds: pthread-queue has no count/],
    [spew('no-operator.sql', $queue =~ s/NAME/no-operator/r =~ s/-- name: clear-all-errors.*?(?=-- name: count)//sr), [],
        qr/rounds: no-operator has neither clear-all-errors nor reset-all with these options/],
    ['nowait', ['--no-drain'], qr/rounds: more than one needs drain, and no producers/],
    ['nowait', ['--recover', '10ms'], qr/rounds: not with fault, recover, period or rows/],
    ['nowait', ['--readers', '1', '--rounds', '0', '--fault', 'kill'], qr/readers: not with fault kill/]) {
    my ($strategy, $more, $wanted) = @$case;
    my ($status, $out, $err) = lockbench('run', '-s', $strategy, '-S', 'rounds', @$more, '--quiet');
    isnt($status, 0, "$strategy @$more: refused");
    like("$out$err", $wanted, "$strategy @$more: and why");
}

# A lock that readers wait for, and one that they pass. It is held nearly all the time, for its claimers' pauses.
SKIP: {
    skip 'no PostgreSQL server', 4 if !exists $uri{postgres};
    my @reads = ('-S', 'beside-readers', '--producers', '0', '--backlog', '1000', '--tx-pause', '20ms', '--warmup', '0',
        '--duration', '2s', '--format', 'json', '--quiet');
    my %asked = map { $_ => ['run', '-s', 'merge-table-lock', '-d', $uri{postgres}, @reads, '--opt', "lock_mode=$_"] }
        'share-row-exclusive', 'access-exclusive';
    my (%run, %read);
    my $end = time + 600;
    do { # where the machine stands still there are too few reads for a median
        %run = map { $_ => start(@{ $asked{$_} }) } keys %asked;
        %read = map { $_ => run_of(finish($run{$_}))->{operations}{read} } keys %run;
    } while (time < $end && grep { !defined $_->{service}{p50_ns} } values %read);
    cmp_ok($read{$_}{succeeded}, '>', 0, "$_: readers read") for sort keys %read;
    # Half of all reads: some may have waited for the machine.
    cmp_ok($read{'access-exclusive'}{service}{p50_ns}, '>', $read{'share-row-exclusive'}{service}{p50_ns},
        'a read waits for the exclusive lock, and not for the other');
    my ($status, $out) = lockbench('run', '-s', 'merge-table-lock', '-d', $uri{postgres}, '-S', 'beside-readers', '--duration',
        '300ms', '--warmup', '0', '--quiet');
    like($out, qr/readers: merge-table-lock on postgres, beside-readers: 2 sessions counted/, 'and the text says so');
}
done_testing();
