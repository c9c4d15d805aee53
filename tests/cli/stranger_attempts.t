#!/usr/bin/env perl
# Items that are tried a few times only, with any name of the column, and advice for changes in
# several statements.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $file = "$ENV{LB_SOURCE}/tests/strangers/goes.sql";
my @often = ('-d', 'sqlite:', '-S', 'give-back', '--free', '0.7', '-q');
my ($status, $out, $err) = lockbench('run', '-s', $file, @often);
unlike($out, qr/VIOLATED/, 'what was tried as often as it may be is not lost') or diag $out, $err;
like($out, qr/no-loss: the items not claimed again had reached the attempt limit/, '... nor said to be found');
($status, $out, $err) = lockbench('run', '-s', $file, @often, '--opt', 'most=2000');
is($status, 0, 'with attempts enough all come back') or diag $out, $err;
unlike($out, qr/no-loss/, '... and no-loss is tested');
($status, $out) = lockbench('run', '-s', $file, @often, '--opt', 'back=lost');
is($status, 1, 'what is lost at the first attempt is lost');
like($out, qr/^  no-loss, \d+ times? in /m, '... by the right guarantee');

# --- of one attempt a second one is shown at once ---
my @tries = ('-s', "$ENV{LB_SOURCE}/tests/strangers/tries-read.sql", '-d', 'sqlite:', '-q');
for (['counts=read', 1, 'violated'], ['counts=row', 0, 'held']) {
    my ($counts, $wanted, $verdict) = @$_;
    ($status, $out, $err) = lockbench('explore', @tries, '--opt', $counts, '--opt', 'most=1', '--frees', '1', '--items', '1');
    is($status, $wanted, "$counts: status") or diag $out, $err;
    like($out, qr/^ +attempts +$verdict$/m, "... attempts: $verdict") or diag $out;
}
($status, $out, $err) = until_shown(sub { return $_[0] == 1 }, 'verify', @tries, '--opt', 'counts=read', '--budget', '10s');
like($out, qr/^not ok \d+ - tries-read sqlite explore\+attempts attempts$/m, 'verify asks for it') or diag $out, $err;
like($out, qr/^  reproduce: "lockbench explore .* --opt most=1 /m, '... with the option set to 1');

# --- the statement between the first and the last one is the one to change ---
my $blind = spew('blind.sql', <<'SQL');
-- strategy: blind
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE lease (name varchar(60) PRIMARY KEY, holder varchar(60), version int NOT NULL DEFAULT 1);
-- name: resource
INSERT INTO lease (name) VALUES (:resource);
-- name: acquire
-- require: row
SELECT version AS seen FROM lease WHERE name = :resource AND holder IS NULL;
UPDATE lease SET holder = :worker, version = version + 1 WHERE name = :resource;
SELECT version FROM lease WHERE name = :resource AND holder = :worker;
-- name: release
UPDATE lease SET holder = NULL, version = version + 1 WHERE name = :resource AND holder = :worker;
-- name: teardown
DROP TABLE lease;
SQL
(undef, $out) = until_shown(sub { return $_[1] =~ /^# blind on sqlite breaks exclusive:$/m },
    'verify', '-s', $blind, '-d', 'sqlite:', '-q', '--budget', '5s');
like($out, qr/^#   \S+blind\.sql:10: SELECT .*\n#   \S+blind\.sql:11: UPDATE .*\n#   \S+blind\.sql:12: SELECT .*\n#   \S+blind\.sql:5: CREATE TABLE lease .*\n#   The fix: /m,
    'all of its statements are shown, in order, and what setup says of their table');

done_testing();
