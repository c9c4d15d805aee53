#!/usr/bin/env perl
# The lines that verify quotes: a retry, a recover beside renewals, what else a test plays, and the isolation level of two transactions that meet. A
# waiter that dies in line is asked about if the file claims progress only.
# Only with scripts/test --all: one verify after the other; cli/advice has a file for each kind of advice.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/strangers";
my ($postgres) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
my ($status, $out, $err);

# The words of verify on a guarantee that a file breaks: the quoted lines without definitions, and the advice.
sub said
{
    my ($text, $guarantee) = @_;
    my ($said) = $text =~ /^# \S+ on \S+ breaks \Q$guarantee\E:\n((?:#   .*\n)+)/m;
    my @lines = ($said // '') =~ /^#   \S+:\d+: (.*)/mg;
    my ($fix) = ($said // '') =~ /^#   The fix: (.*)/m;
    return ($fix // '', grep { /^(?:UPDATE|INSERT|DELETE|SELECT|WITH|-- )/ } @lines);
}

# --- a retry, and a recover beside renewals ---
for (['returned', 'retry=one', 'retry=mine', 'no-duplicate', ['UPDATE parcel SET driver = NULL, from_ms'], qr/^retry gives back other items of the claim/],
    ['silent', 'sweep=silent', 'sweep=old', 'exclusive', ['UPDATE job_lock SET beat_ms', 'UPDATE job_lock SET owner = NULL WHERE owner IS NOT NULL'],
        qr/^let recover ask for the time that renew writes/])
{
    my ($name, $right, $broken, $guarantee, $lines, $advice) = @$_;
    my @file = ('verify', '-s', "$folder/$name.sql", '-d', 'sqlite:', '-q', '--budget', '6s', '--opt');
    ($status, $out, $err) = until_shown(sub { return $_[0] == 1 }, @file, $broken);
    is($status, 1, "$name, $broken: caught") or diag $out, $err;
    my ($fix, @quoted) = said($out, $guarantee);
    is_deeply([map { substr $quoted[$_] // '', 0, length $lines->[$_] // '' } 0 .. $#$lines], $lines, '... the lines') or diag $out;
    is(scalar @quoted, scalar @$lines, '... and no others');
    like($fix, $advice, '... and the advice');
    is((lockbench(@file, $right))[0], 0, "$name, $right: not accused");
}

# An item that is retried comes to a state that claim does not look for: of two items in hand, too.
my $hidden = slurp("$folder/returned.sql") =~ s/driver = NULL, from_ms = :now \+ :delay_ms WHERE no = :id/driver = '', from_ms = :now + :delay_ms WHERE no = :id/r;
($status, $out) = until_shown(sub { return $_[0] == 1 }, 'verify', '-s', spew('hidden.sql', $hidden), '-d', 'sqlite:', '-q', '--budget', '6s');
my ($change, @shown) = said($out, 'no-loss');
is((grep { /^UPDATE parcel SET driver = :worker, turn/ } @shown), 1, 'a retry that claim does not find: the claim is quoted') or diag $out;
is((grep { /^UPDATE parcel SET driver = '', from_ms/ } @shown), 1, '... and the retry');
like($change, qr/claim (?:must )?look for the values that (?:free, or retry,|retry) leaves/, '... and the advice');

# --- a waiter that dies in line ---
(my $text = slurp("$folder/dead-waiter.sql")) =~ s/^-- claims: .*/-- claims: exclusive, progress/m or die 'no claims';
my @line = ('-s', spew('dead-waiter.sql', $text), '-d', 'sqlite:', '-q');
like((lockbench('verify', @line, '--plan'))[1], qr/^ +\d+ explore\+crash .* claims progress, and has enqueue: a waiter dies/m,
    'a line that claims progress: a waiter dies');
($status, $out, $err) = until_shown(sub { return $_[0] == 1 }, 'verify', @line, '--budget', '6s', '--opt', 'seen=all');
is($status, 1, '... and a dead one that blocks the others is caught') or diag $out, $err;
like($out, qr/^not ok \d+ - dead-waiter sqlite explore\+crash progress$/m, '... by progress') or diag $out;
my ($fix, @quoted) = said($out, 'progress');
like($quoted[0] // '', qr/^UPDATE held SET holder = :worker/, '... with the statement that asks for the first of the line') or diag $out;
like($fix, qr/^a waiter in the line keeps back those behind/, '... and the advice');
($status, $out, $err) = lockbench('verify', @line, '--budget', '6s');
is($status, 0, '... and not where the dead do not count') or diag $out, $err;
like($out, qr/explore\+crash, 2 workers .* [1-9]\d* schedules run/, '... which died') or diag $out;

# A waiter whose polls write the time, as a sign of life, is in vain as well. One that counts its polls may be let in later.
my ($live) = $text =~ /^-- name: acquire (.* when seen=live\n.*?)\n\n/ms;
(my $polls = $live) =~ s/ AND until_ms > :now\)/)/ or die 'no time';
(my $writing = $text) =~ s/\Q$live\E/$polls/;
(my $counting = $writing) =~ s/^UPDATE line SET (?=until_ms)/UPDATE line SET polls = polls + 1, /m or die 'no poll';
$counting =~ s/^(CREATE TABLE line \(.*?, )(?=until_ms)/$1polls INTEGER NOT NULL DEFAULT 0, /m or die 'no table';
for (['writes the time', $writing, 1], ['counts', $counting, 0]) {
    my ($what, $sql, $wanted) = @$_;
    ($status, $out, $err) = lockbench('explore', '-s', spew('polls.sql', $sql), '-d', 'sqlite:', '-q', '--steps', 'clock,crash', '--first', '--time', '3s');
    is($status, $wanted, "a poll that $what: status") or diag $out, $err;
    $wanted ? like($out, qr/^ +progress +violated$/m, '... by progress') : unlike($out, qr/violated/, '... and nothing is violated');
    like($out, qr/schedules? run/, '... of explored schedules');
}

# Without a lease, or where recover clears the line, the dead may block the others for ever.
unlike((lockbench('verify', '-s', "$folder/line-cancel.sql", '-d', 'sqlite:', '--plan'))[1], qr/explore\+crash/, 'no lease: no waiter dies');
$text =~ s/^(-- name: teardown)/-- name: recover [sqlite]\nDELETE FROM line WHERE until_ms < :now;\n\n$1/m or die 'no teardown';
my @cleared = ('-s', spew('cleared.sql', $text), '-d', 'sqlite:', '-q');
unlike((lockbench('verify', @cleared, '--plan'))[1], qr/explore\+crash/, 'a recover: no waiter dies');
($status, $out, $err) = lockbench('explore', @cleared, '--opt', 'seen=all', '--steps', 'clock,crash');
unlike($out, qr/violated/, '... nor is it accused if one does') or diag $out, $err;

# --- what a test plays beside claims and their ends ---
# Two locks at once: a release that ends both.
($status, $out, $err) = until_shown(sub { return $_[0] == 1 }, 'verify', '-s', "$folder/two-locks.sql", '-d', 'sqlite:', '-q', '--budget', '6s', '--opt', 'release=number');
($fix, @quoted) = said($out, 'exclusive');
is((grep { /^UPDATE held SET holder = NULL, until_ms = 0 WHERE number = :token/ } @quoted), 1, 'two locks: the release is quoted') or diag $out, $err;
like($fix, qr/^with two locks at once, the end of one hold ends another/, '... with the reason');

# A rescuer gives up what an operator takes up again.
my @given_up = ('-s', "$folder/given-up.sql", '-d', 'sqlite:', '-q');
my @played = ('--also', 'errors', '--rescuers', '1', '--steps', 'clock', '--items', '1', '--rounds', '2', '--preemptions', '1');
like((lockbench('verify', @given_up, '--plan'))[1], qr/^ +\d+ explore\+rescue\+operator /m, 'a rescuer and an operator: verify asks');
is((lockbench('explore', @given_up, '--opt', "gives=$_->[0]", @played))[0], $_->[1], "... gives=$_->[0]: status $_->[1]") for ['failed', 1], ['unknown', 0];
($status, $out, $err) = until_shown(sub { return $_[0] == 1 }, 'verify', @given_up, '--budget', '60s', '--opt', 'gives=failed');
like($out, qr/^not ok \d+ - given-up sqlite explore\+rescue\+operator once$/m, '... and verify finds it') or diag $out, $err;
($fix, @quoted) = said($out, 'once');
is((grep { /^UPDATE letter SET state = '(?:failed' WHERE state = 'open' AND from_ms|new' WHERE)/ } @quoted), 2, '... and quotes recover and clear-error') or diag $out;

# A claim of two takes two items of one group, and nothing was given back before: the claim is quoted first.
my $rooms = spew('rooms.sql', <<'SQL');
-- strategy: rooms
-- shape: queue
-- claims: group-exclusive, owner-release
-- name: setup [sqlite]
CREATE TABLE message (id INTEGER PRIMARY KEY, room TEXT NOT NULL, body TEXT, state TEXT NOT NULL DEFAULT 'new', turn INTEGER NOT NULL DEFAULT 0);
-- name: put [sqlite]
INSERT INTO message (id, room, body) VALUES (:id, :group, :payload);
-- name: claim [sqlite]
UPDATE message SET state = 'out', turn = turn + 1
WHERE id IN (SELECT m.id FROM message AS m WHERE m.state = 'new'
             AND NOT EXISTS (SELECT 1 FROM message AS b WHERE b.room = m.room AND b.state = 'out') ORDER BY m.id LIMIT :n)
RETURNING id, body AS payload, turn AS token;
-- name: complete [sqlite]
UPDATE message SET state = 'done' WHERE id = :id AND state = 'out' AND turn = :token;
-- name: free [sqlite]
UPDATE message SET state = 'new' WHERE id = :id AND state = 'out' AND turn = :token;
-- name: teardown [sqlite]
DROP TABLE message;
SQL
($status, $out, $err) = until_shown(sub { return $_[0] == 1 }, 'verify', '-s', $rooms, '-d', 'sqlite:', '-q', '--budget', '12s');
($fix, @quoted) = said($out, 'group-exclusive');
like($quoted[0] // '', qr/^UPDATE message SET state = 'out'/, 'two items of a group in one claim: the claim is quoted first') or diag $out, $err;
like($fix, qr/^one claim takes two items of a group/, '... with the reason');

# Items that a run with recoveries loses: recover is quoted as well.
my $slots = spew('slots.sql', <<'SQL');
-- strategy: slots-lost
-- shape: queue
-- claims: no-loss, owner-release
-- option: stuck_ms = 60000
-- limit: stuck_ms
-- name: setup [sqlite]
CREATE TABLE slot (running INTEGER NOT NULL);
INSERT INTO slot VALUES (0);
CREATE TABLE load (id INTEGER PRIMARY KEY, body TEXT, state TEXT NOT NULL DEFAULT 'new', turn INTEGER NOT NULL DEFAULT 0, from_ms INTEGER);
-- name: put [sqlite]
INSERT INTO load (id, body) VALUES (:id, :payload);
-- name: claim [sqlite] tx=one begin=immediate
-- require: row
UPDATE slot SET running = running + 1 WHERE running < 3 AND EXISTS (SELECT 1 FROM load WHERE state = 'new');
UPDATE load SET state = 'out', turn = turn + 1, from_ms = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
WHERE id = (SELECT id FROM load WHERE state = 'new' ORDER BY id LIMIT 1) RETURNING id, body AS payload, turn AS token;
-- name: complete [sqlite] tx=one begin=immediate
-- require: row
UPDATE load SET state = 'done' WHERE id = :id AND state = 'out' AND turn = :token;
UPDATE slot SET running = running - 1;
-- name: recover [sqlite]
UPDATE load SET state = 'new' WHERE state = 'out' AND from_ms < CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - :stuck_ms;
-- name: teardown [sqlite]
DROP TABLE load;
DROP TABLE slot;
SQL
($status, $out, $err) = until_shown(sub { return $_[0] == 1 }, 'verify', '-s', $slots, '-d', 'sqlite:', '-q', '--budget', '60s');
($fix, @quoted) = said($out, 'no-loss');
is((grep { /^UPDATE load SET state = 'new' WHERE state = 'out' AND from_ms/ } @quoted), 1, 'a place that recover does not give back: recover is quoted') or diag $out, $err;

# Workers that are asked to stop wait for no limit: one of minutes can be tested.
my $minutes = slurp("$folder/stop-all.sql") =~ s/^(-- option: stop .*)$/$1\n-- option: stale_min = 15\n-- limit: stale_min/mr;
$minutes =~ s/state int NOT NULL DEFAULT 0,/$& at_ms bigint,/ or die 'no state';
$minutes =~ s/^UPDATE job SET state = 1,/$& at_ms = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),/m or die 'no claim';
$minutes =~ s/^-- name: teardown/-- name: recover [sqlite]\nUPDATE job SET state = 0 WHERE state = 1 AND at_ms < CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - :stale_min * 60000;\n$&/m
    or die 'no teardown';
my @minutes = ('-s', spew('minutes.sql', $minutes), '-d', 'sqlite:', '-q', '--budget', '30s');
($status, $out, $err) = until_shown(sub { return $_[0] == 1 }, 'verify', @minutes, '--opt', 'stop=all');
like($out, qr/^not ok \d+ - \S+ sqlite steady\+term no-duplicate$/m, 'a limit of minutes: stop is tested') or diag $out, $err;
is((grep { /^UPDATE job SET state = 0, worker = NULL/ } (said($out, "no-duplicate"))), 1, "... and quoted");
($status, $out, $err) = lockbench('verify', @minutes);
is($status, 0, '... and one that asks for its own worker is not accused') or diag $out, $err;

# --- the isolation level ---
SKIP: {
    skip 'no postgres server', 6 unless defined $postgres;
    $text = slurp("$folder/turnstile.sql");
    my %as = (
        'repeatable read' => [$text, 1, 1],
        'read committed' => [$text =~ s/repeatable read$/read committed/mr, 0, 0],
        'a second one without a question' => [$text =~ s/NOT EXISTS \(.*?\)/1 = 1/r, 1, 0]); # meets no open transaction
    for my $case (sort keys %as) {
        my ($sql, $wanted, $quotes) = @{ $as{$case} };
        ($status, $out, $err) = lockbench('verify', '-s', spew('turnstile.sql', $sql), '-d', $postgres, '-q', '--budget', '6s');
        is($status, $wanted, "$case: status") or diag $out, $err;
        ($fix, @quoted) = said($out, 'exclusive');
        is((grep { /^-- isolation: repeatable read$/ } @quoted), $quotes, '... and the level is ' . ($quotes ? '' : 'not ') . 'quoted') or diag $out;
        like($fix, qr/ the isolation level decides what each sees of the other$/, '... with the reason') if $quotes;
    }
}

# --- a lock that is released, and acquired again: the release is part of it ---
my @counted = ('verify', '-s', "$folder/semaphore-count.sql", '-d', 'sqlite:', '-q', '--budget', '15s', '--opt');
($status, $out, $err) = until_shown(sub { return $_[1] =~ /explore\+rescue again exclusive$/m }, @counted, 'give=any');
is($status, 1, 'semaphore-count, give=any: caught') or diag $out, $err;
(undef, my @given) = said($out, 'exclusive');
is((grep { /^DELETE FROM holder WHERE name = :resource AND worker/ } @given), 1, '... and the release is quoted') or diag $out;
is((lockbench(@counted, 'give=row'))[0], 0, 'semaphore-count, give=row: not accused');
done_testing();
