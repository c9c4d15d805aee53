#!/usr/bin/env perl
# lockbench explore at the command line: users' files, steps of the clock and deaths, bounds, mistakes,
# and Ctrl-C. SQLite only.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;
use Time::HiRes 'sleep';

# The last of two options counts: a test's own --time overrides this.
sub explore { return lockbench('explore', '-d', 'sqlite:', '--time', '10m', @_) }

# A smaller case is looked for no longer than the violation took to find: on a busy machine that may be too short.
sub explore_until
{
    my ($words, @args) = @_;
    return until_shown(sub { return $_[1] =~ $words }, 'explore', '-d', 'sqlite:', '--time', '10m', @args);
}

# Users' files.
my ($status, $out, $err) = explore('-s', good_lock());
is($status, 0, 'a good lock: exit status') or diag $err;
like($out, qr/^  complete: \d+ schedules run \(\d+ likely ones? first\), \d+ pruned/m, 'a good lock: everything was covered');
like($out, qr/^  exclusive +held$/m, 'a good lock: held');
like($out, qr/\A\S+ on sqlite:, 2 workers x 1 round\n/, 'a good lock: what was explored');
($status, $out) = explore('-s', open_door());
is($status, 1, 'an open door: exit status');
like($out, qr/^  exclusive is violated: worker \d was granted resource 0 at step 2 while worker \d held it from step\s+1 on/m,
    'an open door: in words');
like($out, qr/^  2 statements of 2 workers x 1 round in 2 steps, replayed twice with the same answers$/m, 'an open door: as short as it gets');
my ($again) = $out =~ /^  again: lockbench (explore .*)$/m;
is((lockbench(split ' ', $again))[0], 1, 'an open door: the command shows it again');
is_deeply([grep { length > 100 } split /\n/, $out =~ s/^  again: .*//mr], [], 'an open door: no line is longer than the screen');

# A violation is shown by the smallest case that has it, for any explored case.
($status, $out) = explore_until(qr/of 2 workers x 1 round in/, '-s', open_door(), '--workers', '3', '--rounds', '2', '--first');
is($status, 1, 'a smaller case: exit status');
like($out, qr/^  2 statements of 2 workers x 1 round in 2 steps/m, 'a smaller case: two workers, one round') or diag $out;
unlike($out, qr/worker 2/, 'a smaller case: the third has nothing to do with it');
($again) = $out =~ /^  again: lockbench (explore .* --workers 2 --rounds 1 --replay .*)$/m;
is((lockbench(split ' ', $again))[0], 1, 'a smaller case: the command shows it again');
my $queue = decode_json((explore_until(qr/--workers 2 --rounds 1/, '-s', 'autocommit-skip', '--workers', '3', '--format', 'json'))[1])->{witness};
is("$queue->{workers} x $queue->{rounds}", '2 x 1', 'a smaller case of a queue');
like($queue->{setup}, qr/^CREATE TABLE .*^INSERT INTO /ms, 'a smaller case of a queue: what made its tables');
like($queue->{replay}, qr/ --workers 2 --rounds 1 --items 3 --replay /, 'a smaller case of a queue: with as many items');
is((lockbench(split ' ', $queue->{replay} =~ s/^lockbench //r))[0], 1, 'a smaller case of a queue: the command shows it again');
($status, $out) = explore('-s', good_queue(), '--items', '1', '--producers', '1');
is($status, 0, 'a good queue: exit status');
like($out, qr/^  no-duplicate +held$/m, 'a good queue: held');

# A violation that needs luck: in most replays a worker has come to its end before the schedule has, and a move of it cannot be
# made. That is one more replay in which it did not come, and no error. (Without any luck there is nothing to replay.)
my $lucky = spew('lucky.sql', <<'SQL');
-- strategy: lucky
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0);
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
UPDATE item SET status = 1 WHERE id = (SELECT min(id) FROM item WHERE status = 0) RETURNING id;
-- name: complete
SELECT 1 AS lucky WHERE abs(random()) % 3 = 0;
-- if: row
UPDATE item SET status = 0 WHERE id = :id;
SELECT id FROM item WHERE id = :id;
-- name: teardown
DROP TABLE item;
SQL
($status, $out, $err) = until_shown(sub { return $_[0] != 0 }, 'explore', '-s', $lucky, '-d', 'sqlite:', '--time', '10m', '--items', '1', '--first');
is($status, 1, 'a violation that needs luck: exit status') or diag $err;
like($out, qr/^  no-duplicate +violated$/m, 'a violation that needs luck: is found');
like($out, qr/replayed twice\s+with\s+the\s+same\s+answers/, 'a violation that needs luck: and comes again');

# A worker dies between two statements: its lock must come back, if that is claimed.
my $claims = slurp(good_lock()) =~ s/strategy: good-lock/strategy: hopeful-lock/r =~ s/owner-release$/recovery/mr =~ s/good_lock/hopeful_lock/gr;
my $hopeful = spew('hopeful-lock.sql', $claims);
($status, $out) = explore('-s', $hopeful);
is($status, 0, 'without a death: nothing is violated') or diag $out;
like($out, qr/^  recovery +not tested/m, 'without a death: recovery is not tested');
($status, $out) = explore('-s', $hopeful, '--steps', 'crash');
is($status, 1, 'a death in the hold: exit status');
like($out, qr/^  recovery is violated: no worker can go on/m, 'a death in the hold: what it breaks');
like($out, qr/\bdies\b/, 'a death in the hold: is a step of the table') or diag $out;
like($out, qr/--steps crash --replay \d+x\d\d?$/m, 'a death in the hold: and of the schedule');
($status, $out) = explore('-s', 'table-lock', '--steps', 'crash');
is($status, 0, 'a lock of the transaction dies with it: exit status');
like($out, qr/^  recovery +held$/m, 'a lock of the transaction: recovery is held');

# SQLite has no connection that could lose an answer.
($status, $out, my $refused) = explore('-s', 'table-lock', '--steps', 'cut');
is($status, 2, 'a lost answer on SQLite: exit status');
like($refused, qr/^lockbench: option --steps: cut has no meaning on SQLite, which has no connection to lose$/m, 'and why');

# The clock steps over a lease: the release that does not ask whose run it ends.
($status, $out) = explore('-s', 'lease-update', '--opt', 'first_run=now', '--steps', 'clock');
is($status, 1, 'a lease runs out: exit status');
like($out, qr/^  owner-release is violated/m, 'a lease runs out: the release of another');
like($out, qr/\btime passes\b/, 'a lease runs out: is a step');
is((explore('-s', 'lease-update-safe', '--steps', 'clock'))[0], 0, 'the repaired twin');

# An item that was claimed and given back lies there again: the end of each schedule claims it.
is((explore('-s', 'skip-locked', '--workers', '1', '--items', '1', '--rescuers', '1', '--frees', '1', '--no-reduction'))[0], 0,
    'what a worker gave back is no loss');

# An operator clears the error of an item that has none: it is done, and would be done again.
my $errors = spew('clear-any.sql', <<'SQL');
-- strategy: clear-any
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, state text NOT NULL DEFAULT 'ready');
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
UPDATE item SET state = 'taken' WHERE id = (SELECT min(id) FROM item WHERE state = 'ready') RETURNING id;
-- name: complete
UPDATE item SET state = 'done' WHERE id = :id;
-- name: error
UPDATE item SET state = 'failed' WHERE id = :id;
-- name: clear-error
UPDATE item SET state = 'ready' WHERE id = :id;
-- name: teardown
DROP TABLE item;
SQL
my $clears = spew('clear-failed.sql', slurp($errors) =~ s/(name: clear-error\n.*);/$1 AND state = 'failed';/r);
is((explore('-s', $errors, '--rounds', '2', '--items', '1'))[0], 0, 'errors are not asked about');
($status, $out) = explore('-s', $errors, '--also', 'errors', '--rounds', '2', '--items', '1');
is($status, 1, 'any item is cleared: exit status') or diag $out;
like($out, qr/has cleared one error/, 'any item is cleared: the step');
is((explore('-s', $clears, '--also', 'errors', '--rounds', '2', '--items', '1'))[0], 0, 'the repaired twin');
($status, $out) = explore('-s', 'lease-update', '--opt', 'first_run=now', '--also', 'skew');
is($status, 1, 'clocks that are wrong: exit status') or diag $out;
is((explore('-s', 'lease-update-safe', '--also', 'skew'))[0], 0, 'wrong clocks that no statement asks');
is((explore('-s', 'lease-update-safe', '--also', 'period', '--steps', 'clock'))[0], 0, 'what is not due is no finding');
is((explore('-s', 'skip-locked', '--also', 'errors,others', '--rounds', '3', '--workers', '1', '--items', '4'))[0], 0,
    'items of another class');
($status, $out, my $no_class) = explore('-s', $clears, '--also', 'others');
like($no_class, qr/clear-any has no :class in claim, which --also=others uses/, 'others need a class');
my ($one_status, undef, $one) = explore('-s', 'lease-update-safe', '--also', 'again');
is($one_status, 2, 'again of a lock: refused');
like($one, qr/lease-update-safe has no :n in claim, which --also=again sets to 1/, '... and why');
($one_status, undef, $one) = explore('-s', $clears, '--also', 'ahead,errors,lag');
is($one_status, 2, 'two kinds of clocks: refused');
like($one, qr/^lockbench: option --also: one of skew, lag, ahead and behind, not two$/m, '... and why');
($status, $out, my $no_word) = explore('-s', $clears, '--also', 'errors,nothing');
is($status, 2, 'an unknown word: exit status');
like($no_word, qr/^lockbench: option --also: 'nothing' is not errors, cancels, others, skew, lag, ahead, behind, period, equal, again, apart or halves$/m, 'and why');

# A time as a version: where two times are equal, no worker sees that the row was changed.
my $by_time = spew('by-time.sql', <<'SQL');
-- strategy: by-time
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE by_time (name text, owner text, changed real NOT NULL DEFAULT (julianday('now')));
-- name: resource
INSERT INTO by_time (name) VALUES (:resource);
-- name: acquire
-- require: row
SELECT changed AS seen FROM by_time WHERE name = :resource AND owner IS NULL;
UPDATE by_time SET owner = :worker, changed = julianday('now') WHERE name = :resource AND changed = :seen;
-- name: release
UPDATE by_time SET owner = NULL WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP TABLE by_time;
SQL
($status, $out) = explore('-s', $by_time, '--also', 'equal');
is($status, 1, 'equal times: exit status') or diag $out;
like($out, qr/^  exclusive +violated$/m, 'equal times: two hold') or diag $out;
my $by_both = spew('by-both.sql', slurp($by_time) =~ s/changed = :seen/$& AND owner IS NULL/r);
is((explore('-s', $by_both, '--also', 'equal'))[0], 0, 'the repaired twin');
# A worker whose renewal is refused has the lock no more: its next round begins.
is((explore('-s', 'lease-update-safe', '--also', 'equal', '--steps', 'clock', '--workers', '1', '--rounds', '2', '--renewals', '1'))[0], 0,
    'a lease that is over at its renewal');

# The rescuer is one more worker: if it frees an item while its owner lives, and the owner completes
# by id only, a stranger ends it.
my $unsafe = spew('unsafe-queue.sql', <<'SQL');
-- strategy: unsafe-queue
-- shape: queue
-- claims: owner-release
-- name: setup
CREATE TABLE item (id int PRIMARY KEY, claimed_ms bigint);
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
UPDATE item SET claimed_ms = :now WHERE id = (SELECT min(id) FROM item WHERE claimed_ms IS NULL)
RETURNING id;
-- name: complete
DELETE FROM item WHERE id = :id;
-- name: recover tx=one
UPDATE item SET claimed_ms = NULL WHERE claimed_ms < :now - :ttl_ms;
SELECT count(*) FROM item;
-- name: teardown
DROP TABLE item;
SQL
is((explore('-s', $unsafe, '--items', '1', '--steps', 'clock'))[0], 0, 'without a rescuer: nothing is violated');
($status, $out) = explore('-s', $unsafe, '--items', '1', '--steps', 'clock', '--rescuers', '1');
is($status, 1, 'with a rescuer: exit status');
like($out, qr/^  owner-release is violated/m, 'with a rescuer: the completion of what another owns') or diag $out;
like($out, qr/--rescuers 1 .*--replay \d*t\d*$/m, 'with a rescuer: the command has it');
is((lockbench(split ' ', $out =~ /again: lockbench (.*)/ ? $1 : ''))[0], 1, 'with a rescuer: the command shows it again');

# A heartbeat that does not ask whose the lease is prolongs another's, and is believed to be its own.
my $blind = slurp("$FindBin::Bin/../../sql/lease-update-safe/sqlite.sql")
    =~ s/\A/-- strategy: blind\n-- shape: lock\n-- claims: exclusive\n/r
    =~ s/WHERE job_id = :resource AND running_at = :worker AND fence = :token\n  AND expires > julianday\('now'\);/WHERE job_id = :resource;/r;
my @beats = ('--steps', 'clock', '--renewals', '1');
is((explore('-s', spew('blind.sql', $blind), '--steps', 'clock'))[0], 0, 'without a heartbeat: nothing is violated');
($status, $out) = explore('-s', scratch() . '/blind.sql', @beats);
is($status, 1, 'a blind heartbeat: exit status');
like($out, qr/^  exclusive is violated/m, 'a blind heartbeat: two holders') or diag $out;
like($out, qr/\*\* renewed/, 'a blind heartbeat: is a step');
is((explore('-s', 'lease-update-safe', @beats))[0], 0, 'a heartbeat of what is its own');

# Several items at once, by a statement that takes a list: an expired one is not completed.
my $several = spew('several.sql', <<'SQL');
-- strategy: several
-- shape: queue
-- claims: no-duplicate
-- lease: ttl_ms
-- option: ask = own | none
-- name: setup
CREATE TABLE job (id int PRIMARY KEY, owner text, until_ms int NOT NULL, attempt int NOT NULL);
-- name: put
INSERT INTO job VALUES (:id, NULL, 0, 0);
-- name: claim
UPDATE job SET owner = :worker, until_ms = :now + :ttl_ms, attempt = attempt + 1
WHERE id IN (SELECT id FROM job WHERE until_ms <= :now ORDER BY id LIMIT :n) RETURNING id, attempt AS token;
-- name: renew when ask=own
UPDATE job SET until_ms = :now + :ttl_ms WHERE owner = :worker AND EXISTS (SELECT 1 FROM json_each(:items) e
WHERE e.value ->> 'id' = job.id AND e.value ->> 'token' = job.attempt) RETURNING id;
-- name: renew when ask=none
UPDATE job SET until_ms = :now + :ttl_ms WHERE id IN (SELECT value FROM json_each(:ids)) RETURNING id;
-- name: complete
DELETE FROM job WHERE id IN (SELECT value FROM json_each(:ids)) RETURNING id;
-- name: teardown
DROP TABLE job;
SQL
my @two = ('--batch', '2', '--items', '2', '--renewals', '1', '--steps', 'clock');
($status, $out) = explore('-s', $several, '--opt', 'ask=none', @two);
is($status, 1, 'two are renewed without asking whose they are: exit status');
like($out, qr/\*\* renewed 2 of 2$/m, '... by one statement') or diag $out;
($status, $out) = explore('-s', $several, @two, '--claims', 'no-duplicate,owner-release', '--replay', '00t110000');
unlike($out, qr/DELETE/, 'whoever is told that both are over completes neither') or diag $out;
($status, $out) = explore('-s', $several, @two, '--replay', '000000');
like($out, qr/renewed 2 of 2.*completed 2 of 2/s, '... else it completes both') or diag $out;

# A release that the engine refuses is tried again. The other moves are run behind the refused try alone, so the hold has to go on
# until the try that succeeds: else the grant at step 7 would come after the hold.
my $busy = spew('refused.sql', <<'SQL');
-- strategy: refused
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE door (name varchar(64) PRIMARY KEY, owner varchar(64));
-- name: resource
INSERT INTO door (name) VALUES (:resource);
-- name: acquire tx=one begin=immediate
SELECT 1 FROM door WHERE name = :resource;
UPDATE door SET owner = :worker WHERE name = :resource;
-- name: release tx=one begin=immediate
UPDATE door SET owner = NULL WHERE name = :resource;
-- name: teardown
DROP TABLE door;
SQL
my ($without) = explore('-s', $busy, '--replay', '0001110011');
my ($with, $printed) = explore('-s', $busy, '--replay', '00010110011');
is("$without $with", '1 1', 'a release that is busy at first: the verdict is that of the schedule without this try') or diag $printed;
like($printed, qr/granted\s+resource\s+0\s+at\s+step\s+7\s+while\s+worker\s+0\s+held\s+it\s+from\s+step\s+3\s+to\s+step\s+8/, '... and the hold lasts until the next try');
my ($twice, $told) = explore('-s', $busy, '--replay', '000100110011');
is($twice, 1, 'a release that is busy twice: neither try ends the hold') or diag $told;

($status, $out) = explore('-s', 'fifo-poll', '--rounds', '2');
is($status, 0, '... and the next hold begins with its own acquire') or diag $out;

# A rescuer lists what has run for too long, and frees it later: it is stopped in between, while others have it.
my $listed = spew('listed.sql', <<'SQL');
-- strategy: listed
-- shape: queue
-- claims: no-duplicate
-- name: setup
CREATE TABLE task (id int PRIMARY KEY, state text NOT NULL, attempt int NOT NULL, started bigint);
-- name: put
INSERT INTO task VALUES (:id, 'available', 0, NULL);
-- name: claim
UPDATE task SET state = 'running', attempt = attempt + 1, started = :now
WHERE id = (SELECT min(id) FROM task WHERE state = 'available') RETURNING id, attempt AS token;
-- name: complete
UPDATE task SET state = 'completed' WHERE id = :id AND state = 'running' AND attempt = :token;
-- name: recover
SELECT min(id) AS stuck FROM task WHERE state = 'running' AND started < :now - :ttl_ms;
UPDATE task SET state = 'available' WHERE id = :stuck;
-- name: teardown
DROP TABLE task;
SQL
($status, $out) = explore('-s', $listed, '--items', '1', '--steps', 'clock', '--rescuers', '1', '--first', '--format', 'json');
my $rescued = decode_json($out);
is($rescued->{verdicts}{'no-duplicate'}, 'violated', 'a rescuer is stopped amid its statements');
is($rescued->{schedules}, $rescued->{likely_first}, '... in a likely schedule');

# Nothing was tested: that is no success.
my $gives_up = spew('gives-up.sql', <<'SQL');
-- strategy: gives-up
-- shape: lock
-- claims: progress
-- name: setup
CREATE TABLE gate (name text PRIMARY KEY, n int NOT NULL);
-- name: resource
INSERT INTO gate VALUES (:resource, 0);
-- name: acquire
-- require: row
UPDATE gate SET n = n + 1 WHERE name = :resource;
UPDATE gate SET n = n + 1 WHERE name = :resource AND n < 0;
-- name: release
UPDATE gate SET n = 0 WHERE name = :resource;
-- name: teardown
DROP TABLE gate;
SQL
($status, $out, $err) = explore('-s', $gives_up, '--workers', '1');
is($status, 5, 'all give up: exit status');
like($out, qr/^  progress +not tested: in every schedule a worker gave an operation up$/m, 'all give up: that is no progress') or diag $out;
like($err, qr/^lockbench: nothing was tested: no claim got a verdict; the lines above say why$/m, 'all give up: in words');
($status, $out) = explore('-s', spew('kept.sql', slurp(good_lock()) =~ s/(-- name: release\n).*?(?=-- name|\z)/$1SELECT 1;\n/sr));
is($status, 5, 'nobody gives it back: exit status') or diag $out;
like($out, qr/^  exclusive +not tested: in no schedule could all workers finish$/m, 'nobody gives it back: not tested') or diag $out;
is((explore('-s', 'cas', '--claims', 'recovery'))[0], 5, 'nobody dies, and nothing else is asked: exit status');
is((explore('-s', 'cas,lease-update-safe', '--claims', 'recovery,exclusive'))[0], 0, 'something was tested: exit status');

# The judged guarantees can be chosen.
($status, $out) = explore('-s', 'read-then-write', '--claims', 'owner-release');
is($status, 0, '--claims: exit status');
unlike($out, qr/exclusive/, '--claims: nothing else is judged');
($status, $out) = explore('-s', 'read-then-write', '--claims', 'exclusive,owner-release');
is($status, 1, '--claims: judged');
like($out, qr/^  again: lockbench explore .*--claims exclusive,owner-release .*--replay/m, '--claims: the command has it');

# Only the time ends the search here, and not the first violation, which was not requested.
($status, $out) = explore('-s', 'read-then-write', '--workers', '4', '--rounds', '3', '--time', '300ms');
like($out, qr/^  bounded: ended after 0.3 s, (?:roughly|less than)/m, 'a violation and a time: the time ended it') or diag $out;
($status, $out) = explore('-s', 'read-then-write', '--workers', '4', '--rounds', '3', '--first');
like($out, qr/^  ended at the first violation: \d+ schedules? run/m, 'the first violation ends it') or diag $out;

($status, $out) = explore('-s', open_door(), '--first');
like($out, qr/^  ended at the first violation: 1 schedule run, 0 pruned/m, 'one schedule is not called schedules') or diag $out;

# Bounds say so.
for (['--max-schedules', '2', 'at most 2 schedules'], ['--preemptions', '0', 'at most 0 preemptions'],
    ['--random', '5', 'random schedules'], ['--time', '1ms', 'ended after 0.001 s, (?:roughly \d[\d.e-]*|less than 0.1) % of the search'])
{
    my ($option, $value, $words) = @$_;
    ($status, $out) = explore('-s', 'cas', '--workers', '3', $option, $value);
    is($status, 0, "$option: exit status");
    like($out, qr/^  bounded: $words: \d+ schedules? run/m, "$option: bounded");
    like($out, qr/^  no-duplicate +no violation found$/m, "$option: not held");
}
my @random = map { (explore('-s', 'cas', '--random', '20', '--seed', $_, '--format', 'json'))[1] =~ s/"(?:elapsed_ns|audited)".*//gr } 3, 3;
is($random[0], $random[1], 'random schedules: the same seed, the same schedules');

# Mistakes: one line, exit status 2.
for (
    [qr/needs -s STRATEGY/,                              ],
    [qr/--workers: '0' is not a number from 1/,  '-s', 'cas', '--workers', '0'],
    [qr/--rounds: 'x' is not a number/,          '-s', 'cas', '--rounds', 'x'],
    [qr/--steps: 'noon' is not clock, crash or cut/, '-s', 'cas', '--steps', 'clock,noon'],
    [qr/--readers: has no meaning for cas, a queue/, '-s', 'cas', '--readers', '1'],
    [qr/--readers: there are only 2 workers/,    '-s', 'lock-row', '--readers', '3'],
    [qr/--items: has no meaning for lock-row/,   '-s', 'lock-row', '--items', '3'],
    [qr/--producers: at most 8 workers/,         '-s', 'cas', '--workers', '8', '--producers', '1'],
    [qr/--rescuers: at most 8 workers/,          '-s', 'cas', '--workers', '8', '--rescuers', '1'],
    [qr/lease-update has no section recover, which a rescuer runs/, '-s', 'lease-update', '--rescuers', '1'],
    [qr/read-then-write has neither a section renew nor a section heartbeat/, '-s', 'read-then-write', '--renewals', '1'],
    [qr/--blockers: at most 8 workers/,          '-s', 'cas', '--workers', '8', '--blockers', '1'],
    [qr/SQLite has no locks of rows, which a blocker takes/, '-s', 'cas', '--blockers', '1'],
    [qr/--claims: unknown guarantee 'speed' .there are exclusive, .*fifo/, '-s', 'cas', '--claims', 'fifo,speed'],
    [qr/--depth: is for --random/,               '-s', 'cas', '--depth', '2'],
    [qr/--choices: 'few' is not a number/,       '-s', 'cas', '--choices', 'few'],
    [qr/--time: 'soon' is not a time/,           '-s', 'cas', '--time', 'soon'],
    [qr/--isolation: 'high' is not read-committed, repeatable-read or serializable/,      '-s', 'cas', '--isolation', 'high'],
    [qr/--format: unknown format 'tap'/,         '-s', 'cas', '--format', 'tap'],
    [qr/"01y" is not a schedule/,                '-s', 'cas', '--replay', '01y'],
    [qr/move 1 of the schedule cannot be made/,  '-s', 'cas', '--replay', '7'],
    [qr/--replay and --spec take one strategy/,  '-s', 'cas,nowait', '--replay', '0'],
    [qr/--spec: there is no violation on PostgreSQL/, '-s', 'cas', '--spec', scratch() . '/none.spec'],
    [qr/has no statements for SQLite/,           '-s', 'row-lock'],
    [qr/no statements to step through/,          '-s', 'pthread-mutex'],
    )
{
    my ($message, @args) = @$_;
    ($status, undef, $err) = explore(@args);
    is($status, 2, "@args: exit status");
    like($err, $message, "@args: what is wrong");
    is(($err =~ tr/\n//), 1, "@args: in one line") or diag $err;
}

# Progress, on a terminal only: the first schedule is reported at once.
SKIP: {
    skip 'no script to make a terminal', 4 if system('script -qec true /dev/null >/dev/null 2>&1') != 0;
    local $ENV{TERM} = 'xterm';
    my $command = "'$ENV{LOCKBENCH}' explore -d sqlite: -s cas";
    my ($shown, $quiet) = map { scalar `script -qec "$command $_" /dev/null </dev/null` } '', '-q';
    like($shown, qr/\r\033\[Kcas sqlite: \d+ schedules?, /, 'a terminal: progress');
    like($quiet, qr/^cas on .*^  complete: /ms, '-q: the result');
    unlike($quiet, qr/cas sqlite: /, '-q: no progress');
    is((explore('-s', 'cas'))[2], '', 'no terminal: none');
}

# Ctrl-C: the coverage is reported.
my $run = start('explore', '-d', 'sqlite:', '-s', 'cas', '--workers', '5', '--rounds', '3');
wait_for(sub { return () = glob(scratch() . '/lockbench-sqlite-*') });
sleep 0.3;
kill 'INT', $run->{pid};
($status, $out) = finish($run);
is($status, 130, 'Ctrl-C: exit status');
like($out, qr/^  bounded: interrupted: \d+ schedules? run/m, 'Ctrl-C: what was covered') or diag $out;
is_deeply([grep { !/(?:out|err)\.\d+$|\.(?:sql|spec)$/ } glob(scratch() . '/*')], [], 'nothing is left behind');

# Schedules that were left out are audited, within a share of the time.
my $audited = sub { return decode_json((explore('-s', 'skip-locked', '--workers', '3', '--format', 'json', @_))[1])->{audited} };
cmp_ok($audited->(), '>=', 1, 'audit: at least one');
cmp_ok($audited->('--audit', '100%'), '>=', 1, 'audit: in as much time again');
is($audited->('--audit', '0'), 0, 'audit: none');
like((explore('-s', 'skip-locked', '--audit', '100'))[1], qr/^  complete: \d+ schedules run .*, \d+ pruned, [1-9]\d* audited, /m, 'audit: it says so');
($status, $out, $err) = explore('-s', 'skip-locked', '--audit', '101%');
is($status, 2, 'audit of more than all: exit status');
is($err, "lockbench: option --audit: '101%' is not a share from 0 to 100%\n", 'audit of more than all: why');

# A guarantee that needs two workers is not held with one.
(undef, $out) = explore('-s', 'lease-upsert', '--workers', '1');
like($out, qr/^  $_->[0] +not tested: $_->[1]$/m, "one worker: $_->[0]")
    for ['exclusive', 'there is one worker'], ['fenced', 'there is one worker, with one round'], ['owner-release', 'there is one worker'];
like($out, qr/^  progress +held$/m, 'one worker: progress');
(undef, $out) = explore('-s', 'cas', '--workers', '1', '--rounds', '2');
like($out, qr/^  no-duplicate +held$/m, 'one worker with two rounds may claim an item twice');
(undef, $out) = explore('-s', 'slots', '--capacity', '2');
like($out, qr/^  exclusive +not tested: there are no more workers than may hold$/m, 'as many as may hold');
(undef, $out) = explore('-s', 'lease-upsert');
like($out, qr/^  exclusive +held$/m, 'two workers');
like($out, qr/^  recovery +not tested: nobody dies: ask with --steps clock,crash$/m, '... of whom nobody dies');
(undef, $out) = explore('-s', 'lease-upsert', '--steps', 'crash');
like($out, qr/^  recovery +not tested: no lease ends: ask with --steps clock,crash$/m, '... or one does, and its lease does not end');

# A witness of a schedule of its own is printed by steps as well.
($status, $out, $err) = lockbench('explore', '-s', "$ENV{LB_SOURCE}/tests/strangers/in-line.sql", '--opt', 'number=chance', '-d', 'sqlite:', '-q');
like($out, qr/fifo is violated by another schedule: .*at\s+step \d+,/, 'fifo, by another schedule: the step') or diag $out, $err;
unlike($out, qr/\d ms\b/, '... and no time');
done_testing;
