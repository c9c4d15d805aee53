#!/usr/bin/env perl
# Mistakes that no statement of a finding shows: a column's collation, an end in several commits. Items in hand while
# others are claimed, permits that expire within a statement's neighbour, and answers that chance decides.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/strangers";
my ($mariadb) = grep { /^mariadb/ } split /\n/, $ENV{LB_TEST_URIS} // '';
my ($status, $out, $err);

# --- the definitions of the columns follow the statements ---
my @letters = ('verify', '-s', "$folder/letters.sql", '-d', 'sqlite:', '-q', '--budget', '5s');
($status, $out, $err) = lockbench(@letters, '--opt', 'letters=alike');
is($status, 1, 'letters=alike: caught');
my $shown = qr/^#   \S+letters\.sql:29: UPDATE held .*\n#   \S+:19: name varchar\(60\) PRIMARY KEY,\n#   \S+:20: state char\(1\) COLLATE NOCASE .*\n#   \S+:21: .*\n#   \S+:22: .*\n#   The fix: /m;
like($out, $shown, '... with the column below the statement') or diag $out;
like($err, $shown, '... also for a harness');
is((lockbench(@letters))[0], 0, 'letters=apart: held');

# --- a worker with an item in hand claims another one ---
for my $target ('sqlite:', grep { defined } $mariadb) {
    my @hand = ('explore', '-s', "$folder/mark-mine.sql", '-d', $target, '-q', '--workers', '1', '--batch', '2', '--items', '2',
        '--also', 'again', '--opt');
    ($status, $out, $err) = lockbench(@hand, 'read=mine');
    is($status, 1, "$target: a claim that gives out an item in hand: caught") or diag $out, $err;
    like($out, qr/^  no-duplicate is violated: item 1 /m, '... and which item');
    is((lockbench(@hand, 'read=stamp'))[0], 0, '... and not its twin');
}
my @mine = ('verify', '-s', "$folder/mark-mine.sql", '-d', 'sqlite:', '-q', '--budget', '6s');
($status, $out) = lockbench(@mine, '--opt', 'read=mine');
is($status, 1, 'mark-mine, read=mine: caught');
like($out, qr/^not ok \d+ - mark-mine sqlite explore\+in hand no-duplicate$/m, '... by an item in hand') or diag $out;
my ($command) = $out =~ /^#   shown by: lockbench (explore .*)$/m;
is((lockbench(split ' ', $command // 'none'))[0], 1, '... and the command shows it') or diag $out;
($status, $out) = lockbench(@mine);
is($status, 0, 'mark-mine, read=stamp: held') or diag $out;
like($out, qr/^ok \d+ - mark-mine sqlite explore\+in hand no-duplicate$/m, '... and tested, with a stamp that differs each time');

# --- a permit expires between the statements that count and delete ---
my @swept = ('explore', '-s', "$folder/swept.sql", '-d', 'sqlite:', '-q', '--capacity', '2', '--steps', 'clock', '--opt');
($status, $out) = lockbench(@swept, 'cut=twice');
is($status, 1, 'swept, cut=twice: caught');
like($out, qr/^  permits is violated: /m, '... by the right guarantee') or diag $out;
is((lockbench(@swept, 'cut=once'))[0], 0, '... and not its twin');
like((lockbench('verify', '-s', "$folder/swept.sql", '-d', 'sqlite:', '--plan'))[1], qr/^ +\d+ explore\+limit\+clock /m, '... and planned');

# --- chance decides an answer: by the text, and by observation ---
sub queue
{
    my ($name, $order, $from) = @_;
    return spew("$name.sql", <<"SQL");
-- strategy: $name
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, stamp text);
CREATE VIEW shuffled AS SELECT * FROM item ORDER BY random();
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
UPDATE item SET status = 1, stamp = hex(randomblob(4))
WHERE id = (SELECT id FROM $from WHERE status = 0 $order LIMIT 1) RETURNING id;
-- name: complete
UPDATE item SET status = 2 WHERE id = :id AND status = 1;
-- name: teardown
DROP VIEW shuffled;
DROP TABLE item;
SQL
}
my %case = (
    stamped => ['ORDER BY id',       'item',     undef],
    tossed  => ['ORDER BY random()', 'item',     qr/answers are random: line 10/],
    hidden  => ['',                  'shuffled', qr/answers are random: a claim that was made again was given other items/],
);
for my $name (sort keys %case) {
    my ($order, $from, $why) = @{ $case{$name} };
    my @file = ('-s', queue($name, $order, $from), '-d', 'sqlite:', '-q');
    ($status, $out) = lockbench('explore', @file);
    is($status, 0, "$name: nothing is violated") or diag $out;
    my ($covered) = $out =~ /^(?:.*)\b(complete|bounded)\b/m;
    is($covered // '', defined $why ? 'bounded' : 'complete', "$name: " . (defined $why ? 'not complete' : 'complete')) or diag $out;
    like($out =~ s/\s+/ /gr, $why, '... and why') if defined $why;
    (undef, $out) = lockbench('verify', @file, '--budget', '4s');
    my $held = qr/^ok \d+ - $name sqlite explore no-duplicate$/m;
    defined $why ? unlike($out, $held, "$name: no verdict of verify") : like($out, $held, "$name: held by verify");
    like($out, qr/^# not explored to the end: explore, .*bounded: $why/m, '... with the reason') if defined $why;
}

done_testing();
