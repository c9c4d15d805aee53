#!/usr/bin/env perl
# How `verify` tells what is wrong with a file: what happened, the lines that allow it, what to change, and the command.
# Only with scripts/test --all: it waits for findings that depend on chance.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/strangers";
my ($status, $out, $err);

# --- nothing could be tested: that is reported, and not "no violation" ---
my $foreign = spew('foreign.sql', <<'SQL');
-- strategy: foreign
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, state text NOT NULL DEFAULT 'new');
-- name: put
INSERT INTO job (id) VALUES (:id);
-- name: claim
UPDATE job SET state = 'run' WHERE id IN (SELECT id FROM job WHERE state = 'new' LIMIT :n FOR UPDATE SKIP LOCKED) RETURNING id;
-- name: complete
UPDATE job SET state = 'done' WHERE id = :id AND state = 'run';
SQL
($status, $out, $err) = lockbench('verify', '-s', $foreign, '-d', 'sqlite:');
is($status, 3, 'a file that the engine does not take: exit status');
like($out, qr/^# foreign on sqlite: nothing was tested: 2 of \d+ tests ended in an error; the others were not tried$/m, '... and that nothing was tested');
unlike($out, qr/no violation/, '... is not called no violation');

# --- what is explored has no rate, and one worker is no workers ---
($status, $out, $err) = lockbench('verify', '-s', "$folder/plainjob.sql", '-d', 'sqlite:', '--budget', '8s');
like($err, qr{^\[1/\d+\] plainjob sqlite explore: }m, 'progress of an exploration');
unlike($err, qr{ explore\b.*/s$}m, '... has no rate');
unlike($out, qr/\b1 workers |[2-9] round: /, '... and plurals are right');

# --- the words ---
($status, $out, $err) = until_shown(sub { return $_[1] =~ /^# plainjob on sqlite breaks no-duplicate:$/m },
    'verify', '-s', "$folder/plainjob.sql", '-d', 'sqlite:', '-q');
like($err, qr/^# plainjob on sqlite breaks no-duplicate:\n(?:#   \S+plainjob\.sql:\d+: .*\n)+#   The fix: /m,
    'a harness is told on standard error what to change');
like($out, qr/^# limit of recover: timeout_ms, as said in line 6/m, 'the plan in short');
# It breaks owner-release as well, in most runs: once in some thirty items. A machine that stands still hides both.
my ($words) = $out =~ /^# plainjob on sqlite breaks no-duplicate:\n((?:#   .*\n)+)/m;
like($words // '', qr/without having been given back.*\n#   \S+plainjob\.sql:28: SELECT id, payload .*\n#   \S+plainjob\.sql:29: UPDATE work .*\n#   \S+plainjob\.sql:38: /,
    'what happened, and the lines that allow it');
like($words // '', qr/^#   The fix: let recover take only claims older than its limit/m, 'what to change');
my ($command) = ($words // '') =~ /^#   shown by: lockbench (.*)$/m;
like($out, qr/^# plainjob on sqlite: \d guarantees? broken in \d+ s: \d+ schedules explored/m, 'and what was looked for');
like($command // '', qr/^(?:run|explore) -s \S+plainjob\.sql -d sqlite: /, 'the command that shows it alone');
($status, my $again) = until_shown(sub { return $_[0] == 1 }, split ' ', $command // 'none');
is($status, 1, '... which does') or diag $command, $again;
is(() = $out =~ /no bound was given/g, 0, 'no SKIP for want of a bound');

# --- an exploration that found a violation ends a part of its time later; incomplete ones are reported ---
my @taken = ('-s', "$folder/fences.sql", '-d', 'sqlite:', '--opt', 'number=read', '--budget', '24s');
(undef, $out) = lockbench('verify', @taken, '--plan');
my ($planned) = $out =~ /^ +\d+ explore\+takeover +([\d.]+) s/m;
my $cut = qr/^# not explored to the end: explore\+takeover, .*ended after ([\d.]+) s, with a violation found, .*\n# --budget 10m goes on for longer$/m;
# A fast machine explores all in that time: nothing was cut, and nothing is said of it.
my $whole = qr/\(4 of 4 explorations complete\)/;
(undef, $out) = until_shown(sub { return $_[1] =~ $whole || ($_[1] =~ $cut && $1 < $planned) }, 'verify', @taken, '-q');
my ($given) = $out =~ $cut;
if ($out =~ $whole) {
    unlike($out, qr/^# not explored to the end/m, 'what was explored to the end is not said to be cut');
}
else {
    cmp_ok($given // 99, '<', $planned // 0, 'a violation was found: the exploration does not use all of its time');
}

# --- in words, for each guarantee: the event, the lines, the change for the file's features, and
# the command ---
my @told = map {
    my ($file, $option, $guarantee, $lines, $change) = @$_;
    my @args = ('verify', '-s', "$folder/$file.sql", '-d', 'sqlite:', '--opt', $option, '-q', '--budget', '10s');
    { what => "$file, $option, $guarantee", guarantee => $guarantee, args => \@args, change => $change,
        lines => qr/(?:^#   \S+$file\.sql:\d+: .*\n)*^#   \S+$file\.sql:\d+: $lines/m }
} (
    ['fences', 'number=read', 'fenced', 'SELECT fence \+ 1 AS token', 'the token is read before the lock is taken'],
    ['fences', 'number=kept', 'fenced', 'UPDATE held SET owner', 'returns a number that it does not count up'],
    ['fences', 'number=time', 'fenced', 'UPDATE held SET owner', 'the token is a time'],
    ['orders', 'order=text', 'fifo', 'UPDATE job .* ORDER BY CAST', q{claim's ORDER BY is not the order in which items are put}],
    ['in-line', 'number=chance', 'fifo', 'INSERT INTO ask', 'acquire must grant it only if no smaller number waits'],
    ['stuck', 'free=equal', 'progress', 'UPDATE held SET owner = NULL', 'release writes NULL, and acquire compares with ='],
    ['stuck', 'free=due', 'progress', 'UPDATE held .* due_ms <= :now', 'no worker is ever granted it: acquire must ask for the values'],
    ['families', 'due=asked', 'no-loss', 'UPDATE job SET state', 'claim never finds the items that put writes'],
    ['greedy', 'take=all', 'bounded-claim', 'UPDATE job SET state = 1 WHERE state = 0 RETURNING', 'claim marks all that is ready'],
    ['semaphore', 'release=always', 'permits', '\S', 'change the count only together with the row of a holder'],
    ['at-most-once', 'after=again', 'once', '\S', 'an item that was claimed and is not done may have been begun'],
    ['grouped', 'take=any', 'group-exclusive', 'UPDATE|SELECT', 'two claims that do not see each other take two items'],
    ['line-cancel', 'cancel=first', 'exclusive', 'DELETE FROM line WHERE n = \(SELECT min', 'cancel removes the place, or the hold, of another worker'],
    ['group-flag', 'finish=all', 'group-exclusive', 'UPDATE family SET holder = NULL', 'Or what ends an item sets a group free'],
    ['own-rows', 'release=all', 'owner-release', 'DELETE', 'let what ends a hold ask whose it is'],
    ['prolonged', 'renew=added', 'recovery', 'UPDATE', 'let renew write the time that acquire reads']);
$_->{run} = start(@{ $_->{args} }) for @told[0 .. 3];
for my $i (0 .. $#told) {
    my $row = $told[$i];
    my $finding = qr/^# \S+ on sqlite breaks $row->{guarantee}:\n#   (?!see the command).*\n((?:#   .*\n)+)/m;
    (undef, $out, $err) = finish($row->{run});
    $told[$i + 4]{run} = start(@{ $told[$i + 4]{args} }) if $i + 4 <= $#told;
    (undef, $out, $err) = until_shown(sub { return $_[1] =~ $finding }, @{ $row->{args} }) if $out !~ $finding;
    my ($said) = $out =~ $finding;
    like($said // $out, $row->{lines}, "$row->{what}: the lines");
    like($err, qr/^# not ok: \S+ sqlite .* $row->{guarantee}\n#   \S.*\n#   again: lockbench /m, '... for prove, also with -q');
    like($said // '', qr/^#   The fix: .*\Q$row->{change}/m, '... and what to change');
    my ($shows) = ($said // '') =~ /^#   shown by: lockbench (.*)$/m;
    ok(defined $shows, '... and a command') or next;
    next if $shows !~ /^explore/;
    ($status, my $shown) = lockbench(split ' ', $shows);
    is($status, 1, '... which shows it') or diag $shows, $shown;
    like($shown, qr/$row->{guarantee} is violated/, '... and no other');
}
# A recover that had no part in it is not spoken of.
my $taking = <<'SQL';
-- strategy: taking
-- shape: queue
-- claims: no-duplicate
-- option: timeout_ms = 60000
-- name: setup
CREATE TABLE job (id integer PRIMARY KEY, body text, state int DEFAULT 0, since_ms bigint);
-- name: put
INSERT INTO job (id, body) VALUES (:id, :payload);
-- name: claim
UPDATE job SET state = 1, since_ms = :now WHERE id = (SELECT min(id) FROM job WHERE state < 2) RETURNING id, body AS payload;
-- name: complete
UPDATE job SET state = 2 WHERE id = :id;
-- name: recover
UPDATE job SET state = 0 WHERE state = 1 AND since_ms < :now - :timeout_ms;
SQL
($status, $out) = until_shown(sub { return $_[1] =~ /^# taking on sqlite breaks no-duplicate:$/m },
    'verify', '-s', spew('taking.sql', $taking), '-d', 'sqlite:', '-q', '--budget', '5s');
like($out, qr/^#   The fix: claim itself takes what another has in hand/m, 'a claim that takes what is taken');
unlike($out, qr/^#   The fix: let recover/m, '... and no word of its recover');

# Faults of put, of the ends and of the start: each file has one, and the advice names it.
sub faulty
{
    my ($name, %section) = @_;
    my %all = (put => 'INSERT INTO job (id, body) VALUES (:id, :payload)',
        claim => 'UPDATE job SET state = 1 WHERE id = (SELECT min(id) FROM job WHERE state = 0) RETURNING id, body AS payload',
        complete => 'UPDATE job SET state = 2 WHERE id = :id', %section);
    return spew("$name.sql", join "\n", "-- strategy: $name\n-- shape: queue\n-- claims: no-duplicate, no-loss",
        "-- name: setup\nCREATE TABLE job (id integer PRIMARY KEY, body text, state int DEFAULT 0, due_ms bigint DEFAULT 0);",
        map { "-- name: $_\n$all{$_};" } qw(put claim complete));
}
for (['overwriting', 'no-loss', qr/^#   \S+overwriting\.sql:\d+: INSERT OR REPLACE .*\n#   \S+:\d+: CREATE TABLE job .*\n#   The fix: put writes over an item that is there/m,
        put => 'INSERT OR REPLACE INTO job (id, body) VALUES (:id / 2, :payload)'],
    ['nothing', 'no-loss', qr/^#   The fix: claim never finds the items that put writes/m,
        claim => 'UPDATE job SET state = 1 WHERE id = (SELECT min(id) FROM job WHERE state = 3) RETURNING id, body AS payload'])
{
    my ($name, $guarantee, $fix, %section) = @$_;
    ($status, $out) = until_shown(sub { return $_[1] =~ /^# $name on sqlite breaks $guarantee:$/m },
        'verify', '-s', faulty($name, %section), '-d', 'sqlite:', '-q', '--budget', '5s', '--no-explore');
    like($out, $fix, "$name: the advice names the fault") or diag $out;
}

# With standard error in the same place as the output, a failure is told once.
my $once = faulty('once', claim => 'UPDATE job SET state = 1 WHERE id = (SELECT min(id) FROM job WHERE state = 3) RETURNING id, body AS payload');
my $both = `$ENV{LOCKBENCH} verify -s $once -d sqlite: -q --budget 5s --no-explore 2>&1`;
is(() = $both =~ /^# once on sqlite breaks no-loss:$/mg, 1, '2>&1: a finding is told once') or diag $both;

# Put behind the position, or given back behind it: either may be met first.
($status, $out) = until_shown(sub { return $_[1] =~ /^# position on sqlite breaks no-loss:$/m },
    'verify', '-s', "$folder/position.sql", '-d', 'sqlite:', '--opt', 'back=behind', '-q', '--no-explore');
like($out, qr/^#   The fix: an item (?:that is given back )?is not found/m, 'position: what is lost, and why');

done_testing();
