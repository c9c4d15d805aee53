#!/usr/bin/env perl
# An item that is given back when another worker has it by now is among the likely schedules, which a bounded search
# runs, too. A clock that is read in a function is the server's.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $text = <<'SQL';
-- strategy: late
-- shape: queue
-- claims: no-duplicate, owner-release
-- option: stale_ms = 60000
-- limit: stale_ms
-- name: setup
CREATE TABLE late (id integer PRIMARY KEY, state text NOT NULL DEFAULT 'ready', n integer NOT NULL DEFAULT 0, since integer);
-- name: put
INSERT INTO late (id) VALUES (:id);
-- name: claim
UPDATE late SET state = 'taken', n = n + 1, since = :now
WHERE id = (SELECT min(id) FROM late WHERE state = 'ready') RETURNING id, n AS token;
-- name: complete
DELETE FROM late WHERE id = :id AND state = 'taken' AND n = :token;
-- name: free
UPDATE late SET state = 'ready' WHERE id = :id AND state = 'taken' AND n = :token;
-- name: recover
UPDATE late SET state = 'ready' WHERE state = 'taken' AND since < :now - :stale_ms;
-- name: teardown
DROP TABLE late;
SQL
my @late = qw(--items 1 --frees 1 --rescuers 1 --steps clock --preemptions 0 -d sqlite: -q);
my ($status, $out, $err) = lockbench('explore', '-s', spew('late.sql', $text), @late);
unlike($out, qr/violated/, 'free asks for the claim: nothing is violated') or diag $err;
like($out, qr/likely ones first/, '... and the likely ones were run');
$text =~ s/('ready' WHERE id = :id AND state = 'taken') AND n = :token/$1/ or die 'no free';
($status, $out, $err) = lockbench('explore', '-s', spew('late.sql', $text), @late);
is($status, 1, 'free asks for the number only: status') or diag $out, $err;
# explore+free is a line of the plan, and finds it; the schedules of so small a case are few.
(undef, my $plan) = until_shown(sub { return $_[1] =~ /^not ok \d+ - late sqlite explore\+free owner-release$/m },
    'verify', '-s', spew('late.sql', $text), '-d', 'sqlite:', '--budget', '10s', '-q');
like($plan, qr/^not ok \d+ - late sqlite explore\+free owner-release$/m, '... verify finds it, too');
like($plan, qr/^#   \S+late\.sql:\d+: UPDATE late SET state = 'ready' WHERE id = :id/m, '... and shows the line');
like($out, qr/^ +owner-release +violated$/m, '... owner-release is violated');

# The item that the exploration puts and gives back at its end has the key of one that waits: the put is refused.
($status, $out, $err) = lockbench('explore', '-s', "$ENV{LB_SOURCE}/tests/strangers/listed-states.sql", @late);
is($status, 0, 'a refused put at the end: nothing is violated') or diag $out, $err;

SKIP: {
    my ($postgres) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
    skip 'no postgres server', 1 if !defined $postgres;
    (undef, $out) = lockbench('verify', '-s', spew('clocked.sql', <<'SQL'), '-d', $postgres, '--plan');
-- strategy: clocked
-- shape: lock
-- claims: exclusive
-- lease: ttl_ms
-- name: setup
CREATE TABLE clocked (name text PRIMARY KEY, owner text NOT NULL, until_ms bigint NOT NULL);
CREATE FUNCTION clocked_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
$$;
-- name: acquire
INSERT INTO clocked (name, owner, until_ms) VALUES (:resource, :worker, :now + :ttl_ms)
ON CONFLICT (name) DO UPDATE SET owner = :worker, until_ms = :now + :ttl_ms WHERE clocked.until_ms < clocked_ms()
RETURNING owner;
-- name: release
DELETE FROM clocked WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP TABLE clocked;
DROP FUNCTION clocked_ms();
SQL
    like($out, qr/clocks behind .*line 7 the server's clock/, "a function's clock is asked for");
}
done_testing();
