#!/usr/bin/env perl
# Queues whose items come back for ever end at once, with a finding; runs in which nothing is granted are not green.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use JSON::PP;
use Test::More;

# A queue whose complete completes nothing.
sub endless
{
    my ($name, $claims) = @_;
    return spew("$name.sql", <<"SQL");
-- strategy: $name
-- shape: queue
-- claims: $claims
-- name: setup
CREATE TABLE jobs (id bigint PRIMARY KEY, payload varchar(100), owner varchar(64));
-- name: put
INSERT INTO jobs (id, payload) VALUES (:id, :payload);
-- name: claim
SELECT id, payload FROM jobs WHERE owner IS NULL ORDER BY id LIMIT 1;
-- name: complete
UPDATE jobs SET owner = NULL WHERE id = :id;
-- name: teardown
DROP TABLE jobs;
SQL
}

sub run
{
    my ($file, @args) = @_;
    my ($status, $out, $err) = lockbench('run', '-s', $file, '-d', 'sqlite:', '--quiet', '--format', 'json', '--warmup', '0', @args);
    my $json = eval { decode_json($out) } or diag "exit $status: $err";
    return ($status, $json->{cells}[0]);
}

my $came_back = qr/\Aitems come back after they were ended: \d+ completions of \d+ items; the run was ended\z/;
my @small = ('--workers', '2', '--duration', '10m');
for my $load (['-S', 'drain', '--backlog', '20'], ['-S', 'steady', '--producers', '1', '--put-interval', '100ms', '--backlog', '20']) {
    my ($status, $cell) = run(endless('endless', 'no-duplicate, no-loss'), @$load, @small);
    is($status, 1, "@$load: what comes back is the finding");
    is($cell->{guarantees}{'no-duplicate'}{verdict}, 'violated', '... by name');
    ok((grep { $_ =~ $came_back } @{$cell->{runs}[0]{warnings}}), '... and ends the run') or diag explain $cell->{runs}[0]{warnings};
}
my ($status, $cell) = run(endless('unclaimed', 'no-loss'), '-S', 'drain', '--backlog', '20', @small);
is($status, 5, 'where no claim is about it, nothing was shown');
like($cell->{runs}[0]{reason}, $came_back, '... and the reason is given');
# Recurring work that no period of the scenario holds back is due again at once, and the witness beside the history knows that as well.
my $recurring = spew('recurring.sql', <<'SQL');
-- strategy: recurring
-- shape: queue
-- claims: no-duplicate
-- due: at-once
-- name: setup
CREATE TABLE jobs (id integer PRIMARY KEY, payload varchar(100), owner varchar(64), turn integer NOT NULL DEFAULT 0, next_ms bigint NOT NULL DEFAULT 0);
-- name: put
INSERT INTO jobs (id, payload) VALUES (:id, :payload);
-- name: claim
UPDATE jobs SET owner = :worker, turn = turn + 1
WHERE id = (SELECT id FROM jobs WHERE owner IS NULL AND next_ms <= :now ORDER BY next_ms, id LIMIT 1) RETURNING id, payload, turn AS token;
-- name: complete
UPDATE jobs SET owner = NULL, next_ms = :now + :period_ms WHERE id = :id AND owner = :worker AND turn = :token;
-- name: teardown
DROP TABLE jobs;
SQL
($status, $cell) = run($recurring, '-S', 'drain', '--backlog', '20', @small);
is($status, 5, 'recurring work in a drain: nothing was shown');
like($cell->{runs}[0]{reason}, $came_back, '... and the reason is given');
ok($cell->{runs}[0]{live_witness}{agrees_with_history}, '... and the witnesses agree') or diag explain $cell->{runs}[0]{live_witness};
# verify asks for it with a period that outlasts the run, and with work that outlasts the period: a claim that asks only what is due
# takes it from its worker then.
my $overlapping = spew('overlapping.sql', slurp($recurring) =~ s/WHERE owner IS NULL AND next_ms/WHERE next_ms/r =~ s/SET owner = :worker, turn = turn \+ 1/$&, next_ms = :now + :period_ms/r);
($status, my $said, my $err) = lockbench('verify', '-s', $recurring, '-d', 'sqlite:', '-q', '--budget', '40s');
is($status, 0, 'verify of recurring work: not accused, nor inconclusive') or diag $said, $err;
like($said, qr/^ok \d+ - recurring sqlite slow work no-duplicate$/m, '... and slow work is tested');
($status, $said, $err) = lockbench('verify', '-s', $overlapping, '-d', 'sqlite:', '-q', '--budget', '40s');
like($said, qr/^not ok \d+ - recurring sqlite slow work no-duplicate$/m, 'a claim that asks only what is due: violated') or diag $said, $err;
($status, $cell) = run('cas', '-S', 'drain', '--backlog', '30', '--free', '0.8', @small);
is($status, 0, 'items that are given back again and again end all the same') or diag explain $cell->{runs}[0]{reason};

# Where nothing takes an item from its worker, a completion that finds nothing is as good a proof as one that is accepted.
for my $broken (['refused', 'WHERE id = :id AND id < 0'], ['batched', "WHERE id IN (SELECT value FROM json_each(:ids))"]) {
    my ($name, $where) = @$broken;
    my $file = spew("$name.sql", slurp(endless($name, 'no-duplicate, no-loss')) =~ s/WHERE id = :id\b/$where/r =~ s/LIMIT 1/LIMIT :n/r);
    ($status, $cell) = run($file, '-S', 'drain', '--backlog', '20', '--batch', '5', @small);
    is($status, 1, "$name: what comes back is the finding");
    ok((grep { $_ =~ $came_back } @{$cell->{runs}[0]{warnings}}), '... and ends the run') or diag explain $cell->{runs}[0]{warnings};
}

# Correct queues whose every hold outlasts a lease, or the limit of a recovery, and which refuse such a completion.
# ended: when a claim ends, an expression.
sub outlasted
{
    my ($name, $header, $ended, $more) = @_;
    return spew("$name.sql", <<"SQL");
-- strategy: $name
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release
$header
-- name: setup
CREATE TABLE work (id INTEGER PRIMARY KEY, phase TEXT NOT NULL DEFAULT 'new', taken_at INTEGER, attempt INTEGER NOT NULL DEFAULT 0);
-- name: put
INSERT INTO work (id) VALUES (:id);
-- name: claim
UPDATE work SET phase = 'taken', taken_at = :now, attempt = attempt + 1
WHERE id IN (SELECT id FROM work WHERE phase = 'new' OR phase = 'taken' AND $ended ORDER BY id LIMIT :n)
RETURNING id, attempt AS token;
-- name: complete
UPDATE work SET phase = 'done' WHERE id = :id AND phase = 'taken' AND attempt = :token AND taken_at >= :now - 4;
-- name: free
UPDATE work SET phase = 'new' WHERE id = :id AND phase = 'taken' AND attempt = :token;
$more
-- name: teardown
DROP TABLE work;
SQL
}

my $leased = outlasted('leased', '-- lease: ttl_ms', 'taken_at < :now - :ttl_ms', '');
my $rescued = outlasted('rescued', '', '1 = 0', "-- name: recover\nUPDATE work SET phase = 'new' WHERE phase = 'taken' AND taken_at < :now - 4;");
my @load = ('--workers', '2', '--backlog', '8', '--poll', '1ms', '--warmup', '0', '--duration', '10m');
for my $case (
    [2200, $leased, '-S', 'drain', '--free', '1', '--ttl', '10m', '--count', '1500'],
    [2200, $leased, '-S', 'drain', '--free', '1', '--ttl', '10m', '--count', '400', '--batch', '4'],
    [700, $leased, '-S', 'drain', '--no-drain', '--hold', '6ms', '--ttl', '4ms', '--count', '400'],
    [700, $rescued, '-S', 'drain', '--hold', '6ms', '--recover', '1ms', '--count', '400'],
) {
    my ($n_least, $file, @options) = @$case;
    ($status, $cell) = run($file, @load, @options);
    my $run = $cell->{runs}[0];
    is($run->{state}, 'complete', "@options: is not ended") or diag explain $run->{reason};
    ok(!(grep { $_ =~ $came_back } @{$run->{warnings}}), '... nor accused') or diag explain $run->{warnings};
    cmp_ok($run->{successes_all}, '>', $n_least, '... though its items are claimed again and again');
}

# Nothing is ever granted.
my $mute = spew('mute.sql', slurp(good_lock()) =~ s/strategy: \S+/strategy: mute/r =~ s/WHERE name = :resource AND owner IS NULL/WHERE name = :resource AND owner = 'x'/r);
for my $command (['run'], ['compare', '--repeat', '2']) {
    ($status) = lockbench(@$command, '-s', $mute, '-d', 'sqlite:', '-S', 'mutex-hot', '--duration', '50ms', '--warmup', '0', '--quiet');
    is($status, 5, "$command->[0] without a single grant: exit status");
}
done_testing();
