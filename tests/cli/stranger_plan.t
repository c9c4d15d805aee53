#!/usr/bin/env perl
# The plan of plain `verify` for a user's file, and lint's warnings about it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/strangers";
my ($mariadb) = grep { /^mariadb/ } split /\n/, $ENV{LB_TEST_URIS} // '';

# --- the plan ---
my ($status, $out, $err) = lockbench('verify', '-s', "$folder/plainjob.sql", '-d', 'sqlite:', '--plan');
is($status, 0, '--plan: exit status') or diag $err;
like($out, qr/^  limit  timeout_ms, as said in line 6; 1800000 ms by default/m, 'the limit, and where it was found');
(my $unsaid = slurp("$folder/plainjob.sql")) =~ s/^-- limit: .*$/--/m;
my (undef, $guessed) = lockbench('verify', '-s', spew('unsaid.sql', $unsaid), '-d', 'sqlite:', '--plan');
like($guessed, qr/^  limit  timeout_ms, inferred from line 38; 1800000 ms by default/m, '... and without its directive');
like($out, qr/^ +\d+ explore  /m, 'explored');
like($out, qr/^ +\d+ queue-rescue .* the ends of claims check no holder$/m, 'recovery, with its reason');
unlike($out, qr/overrun/, 'no lease: nothing about leases');
my ($seconds) = $out =~ /at most (\d+) s of 60 s/;
cmp_ok($seconds // 99, '<=', 60, 'within the budget');
(undef, $out) = lockbench('verify', '-s', "$folder/plainjob.sql", '-d', 'sqlite:', '--plan', '--budget', '3s');
like($out, qr/^   - \S+ +left out: does not fit into 3 s: --budget 10m asks it too$/m, 'what does not fit is told');
for my $flags (['-S', 'drain'], ['--faults', 'kill'], ['--workers', '3'], ['--matrix']) {
    ($status, undef, $err) = lockbench('verify', '-s', "$folder/plainjob.sql", '-d', 'sqlite:', '--plan', @$flags);
    is($status, 2, "--plan with @$flags: refused");
    like($err, qr/option --plan: is for strategies in files/, '... in words');
}
($status, undef, $err) = lockbench('verify', '-s', "$folder/plainjob.sql", '--budget', '0');
is($status, 2, 'a budget of nothing is refused');

# --- what was not tested is named last, and decides with --strict ---
my @good = ('verify', '-s', good_lock(), '-d', 'sqlite:', '-q');
my $left = scratch() . '/left.json';
($status, $out, $err) = lockbench(@good, '--budget', '1s', '--format', 'tap', '--format', "json:$left");
is($status, 0, 'skipped for time: by default the exit status depends on what was tested');
like($out, qr/^ok \d+ - good-lock sqlite mutex-hot all # SKIP does not fit into 1 s/m, 'a scenario without time is a line');
my $named = qr/^# good-lock on sqlite: no violation in .*; not tested: mutex-hot, mutex-spread \(does not fit into 1 s: .*\)\n\z/m;
like($out, $named, 'the last line names all that was not tested');
is_deeply([map { [@$_{qw(strategy engine scenario guarantee)}] } @{ decode_json(slurp($left))->{not_tested} }],
    [map { ['good-lock', 'sqlite', $_, undef] } qw(mutex-hot mutex-spread)], '... and so does JSON');
($status, $out, $err) = lockbench(@good, '--budget', '1s', '--strict');
is($status, 5, '--strict: not tested is inconclusive');
like($err, qr/^lockbench: option --strict: 2 not tested, the first: good-lock on sqlite, mutex-hot: does not fit/, '... in words');
($status, $out, $err) = lockbench(@good, '--budget', '1m', '--strict');
is($status, 0, '--strict: all was tested') or diag $err;
unlike($out, qr/not tested/, '... and the last line names nothing');
($status, $out) = lockbench(@good, '-S', 'mutex-hot', '--strict', '--opt', 'form=plain', '--duration', '200ms', '--warmup', '0');
is($status, 0, '--strict with a scenario: all that is claimed was tested');
($status, $out) = lockbench('verify', '-s', 'lease-update-safe', '-q', '-S', 'mutex-hot', '--duration', '200ms', '--warmup', '0', '--strict');
is($status, 5, '--strict with a scenario: recovery is claimed, and not tested');
like($out, qr/^# lease-update-safe on sqlite: not tested: .*recovery \(no bound was given; verify --faults kill tests it\)\n\z/m, '... in the last line');

# The text names the first rows, and the option that tests them.
my @four = ('compare', '--repeat', '1', '-q', '--duration', '100ms', '--warmup', '0', '--progress-bound', '0', '-d', 'sqlite:', '-s');
($status, $out) = lockbench(@four, 'lease-update-safe,lease-version', '-S', 'mutex-hot,mutex-pair');
$out =~ s/\n(?=[^\n])/ /g;
like($out, qr/claimed, and not tested: recovery in 4 of 4 rows: (?:lease-[a-z-]+ on sqlite \(mutex-[a-z]+\)(?:, )?){3} and 1 more; verify --faults kill tests it$/m,
    'four rows without a recovery: three are named, with their scenarios');
like($out, qr/claimed, and not tested: progress in 4 of 4 rows: .* and 1 more; --progress-bound TIME tests it claimed/, '... and without a bound on waits');
($status, $out) = lockbench(@four, 'lease-update-safe,lease-version');
like($out =~ s/\n/ /gr, qr/recovery in 2 of 2 rows: lease-update-safe on sqlite, lease-version on sqlite; verify/, 'two rows of one scenario are named without it');
($status, $out) = lockbench('verify', '-s', 'lease-update-safe', '-d', 'sqlite:', '-q', '--faults', 'kill', '--format', 'text');
unlike($out, qr/not tested: .*recovery/, 'and that option tests it') or diag $out;

# --- times with whole seconds only ---
sub leases
{
    my ($type, $time) = @_;
    return spew('whole.sql', <<"SQL");
-- strategy: whole
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE held (name varchar(60), owner varchar(60),
    until $type);
-- name: resource
INSERT INTO held (name, until) VALUES (:resource, '2000-01-01');
-- name: acquire [mariadb]
UPDATE held SET owner = :worker, until = $time + INTERVAL :ttl_ms * 1000 MICROSECOND
WHERE name = :resource AND until <= $time;
-- name: release
UPDATE held SET until = '2000-01-01' WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP TABLE held;
SQL
}
for (['datetime(6)', 'NOW(6)', undef], ['datetime(6)', 'NOW()', 10], ['datetime(6)', 'CURRENT_TIMESTAMP', 10],
    ['datetime', 'NOW(6)', 6], ['timestamp', 'UTC_TIMESTAMP(3)', 6], ['datetime(6)', 'SYSDATE(6)', undef])
{
    my ($type, $time, $line) = @$_;
    ($status, $out, $err) = lockbench('lint', leases($type, $time));
    is($status, 0, "$type, $time: no mistake") or diag $err;
    if (defined $line) {
        like($out, qr/whole\.sql:$line: warning: this time has whole seconds only/, '... but a warning');
    } else {
        unlike($out, qr/whole seconds/, '... and no warning');
    }
}
# A file without marks may be for any engine; -d says for which.
(my $unmarked = slurp(leases('timestamptz', 'NOW()'))) =~ s/ \[mariadb\]//;
(undef, $out) = lockbench('lint', spew('unmarked.sql', $unmarked));
like($out, qr/whole seconds/, 'NOW() without a mark: a warning, for MariaDB');
(undef, $out) = lockbench('lint', spew('unmarked.sql', $unmarked), '-d', 'postgresql:///?host=' . scratch());
like($out, qr/right as far as can be said/, '... for PostgreSQL alone');
unlike($out, qr/whole seconds/, '... none');
(my $sqlite = slurp(leases('real', "datetime('now')"))) =~ s/\[mariadb\]/[sqlite]/;
$sqlite =~ s/ \+ INTERVAL :ttl_ms \* 1000 MICROSECOND/ || :ttl_ms/;
(undef, $out, $err) = lockbench('verify', '-s', spew('whole.sql', $sqlite), '-d', 'sqlite:', '--plan');
like($out, qr/^  clock  line 10 has whole seconds only: /m, 'the plan says so') or diag $err;

# --- lengths of time that no option sets ---
for (["'+30 seconds'", 1], ["'-1.5 minutes'", 1], ["printf('+%.3f seconds', :ttl_ms / 1000.0)", 0], ["'+' || :ttl_ms || ' seconds'", 0]) {
    my ($length, $fixed) = @$_;
    (my $file = $sqlite) =~ s/datetime\('now'\) \|\| :ttl_ms/strftime('%Y-%m-%d %H:%M:%f', 'now', $length)/ or die;
    (undef, $out) = lockbench('lint', spew('length.sql', $file));
    my $warning = qr/^\S+length\.sql:10: warning: a length of time that no option sets/m;
    if ($fixed) { like($out, $warning, "$length: a warning") }
    else { unlike($out, $warning, "$length: none") }
}

# --- renewals ---
(undef, $out) = lockbench('verify', '-s', "$folder/visibility.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^ +\d+ $_ /m, "$_ is planned") for 'explore\+renew', 'renewed in time', 'renewed late';
(undef, $out) = lockbench('verify', '-s', "$folder/plainjob.sql", '-d', 'sqlite:', '--plan');
unlike($out, qr/renew/, '... but not where nothing is renewed');

# --- one time by the workers' clocks, another by the server's ---
(undef, $out) = lockbench('verify', '-s', "$folder/clocks-lock.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^ +\d+ clocks $_ .*line \d+ uses :now, line \d+ the server's clock: .* are $_ (?:of )?it$/m, "clocks $_: planned")
    for 'ahead', 'behind';
(undef, $out) = lockbench('verify', '-s', "$folder/operator.sql", '-d', 'sqlite:', '--plan');
unlike($out, qr/clocks (?:ahead|behind)/, '... but not where all goes by one kind');

# The planned tests for each file's features.
for (['lanes', 'explore\+put', '--opt', 'put=apart'], ['cleared', 'rounds'], ['receipts', 'batches late'],
    ['batch-failed', 'give-back by five'], ['group-take', 'groups by two'], ['as-text', 'steady\+kill'])
{
    my ($file, $name, @option) = @$_;
    (undef, $out, $err) = lockbench('verify', '-s', "$folder/$file.sql", '-d', 'sqlite:', '--plan', @option);
    like($out, qr/^ +\d+ $name /m, "$file: $name is planned") or diag $err;
}

(undef, $out) = lockbench('verify', '-s', "$folder/takeover.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^ +\d+ explore\+takeover /m, 'taking over by several statements is planned');
(undef, $out) = lockbench('verify', '-s', "$folder/prolonged.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^ +\d+ explore\+renew\+crash /m, 'the death of who has renewed is planned');

(undef, $out) = lockbench('verify', '-s', "$folder/retried-lease.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^ +\d+ give back late /m, 'who retries too late is planned');

# --- a lease in seconds: its scenarios are longer, the budget is not ---
(my $slow = slurp("$folder/prolonged.sql")) =~ s/:ttl_ms/1000 * :lease_s/g;
$slow =~ s/^(-- option: renew)/-- option: lease_s = 60\n$1/m;
(undef, $out) = lockbench('verify', '-s', spew('slow.sql', $slow), '-d', 'sqlite:', '--plan');
like($out, qr/^prolonged on sqlite: at most (?:[1-5]?\d|60) s of 60 s$/m, 'no longer than the budget');
my ($least) = $out =~ /^ +\d+ overrun +([\d.]+) s/m;
cmp_ok($least // 0, '>', 5, 'what takes longer counts as that');

# --- an operator frees what is held for too long ---
(undef, $out) = lockbench('verify', '-s', "$folder/operator.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^  lease  longest_ms, as said in line \d+; 600000 ms by default, which each scenario replaces; recover ends it$/m,
    'the limit of recover is the lease');
like($out, qr/^ +\d+ $_ /m, "$_ is planned") for 'explore\+rescue', 'dead-holder', 'overrun';
(undef, $out) = lockbench('verify', '-s', "$folder/looked.sql", '-d', 'sqlite:', '--plan', '--opt', 'release=looked');
like($out, qr/^ +\d+ explore\+release /m, 'a release of several statements is planned');

# --- the answer of a commit is lost: where there is a connection to lose, and time for it ---
SKIP: {
    my ($postgres) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
    skip 'no postgres server', 7 unless defined $postgres;
    my @cut = ('verify', '-s', "$folder/shedlock-dbtime.sql", '-d', $postgres, '--plan', '--budget');
    (undef, $out) = lockbench(@cut, '10m');
    like($out, qr/^ +\d+ explore\+cut +[0-9.]+ s +it claims recovery: a commit's answer is lost /m, 'lost answers are planned');
    ($status, $out, $err) = lockbench('explore', '-s', "$folder/drawn-fence.sql", '-d', $postgres, '--opt', 'drawn=before', '-q');
    is($status, 1, 'a number drawn by a statement of its own: explored');
    like($out, qr/fenced +violated/, '... and found') or diag $err;
    unlike($out, qr/did not come again/, '... with answers that come again');
    ($status, $out) = lockbench('explore', '-s', "$folder/drawn-fence.sql", '-d', $postgres, '-q');
    like($out, qr/^  complete: /m, 'drawn in the statement that takes the lock: explored completely');
    (undef, $out) = lockbench(@cut, '1m');
    like($out, qr/^ +- explore\+cut +left out: .*--budget 2m asks it$/m, '... if there is time');
    (undef, $out) = lockbench('verify', '-s', "$folder/shedlock-dbtime.sql", '-d', 'sqlite:', '--plan', '--budget', '10m');
    unlike($out, qr/explore\+cut/, '... and a connection');
}

my $grouped = slurp("$folder/grouped.sql");
for ([':id, :group,', ':id, NULL,', 'claims group-exclusive, and section put does not use :group'],
    ['VALUES \\(:id', 'VALUES (:id + 0 * :n', 'section put has :n and :group'])
{
    my ($from, $to, $words) = @$_;
    (my $wrong = $grouped) =~ s/$from/$to/;
    ($status, $out, $err) = lockbench('lint', spew('grouped.sql', $wrong));
    is($status, 2, "$words: refused");
    like($err, qr/grouped\.sql:\d+: \Q$words\E/, '... in words');
}

(my $uncounted = slurp("$folder/semaphore.sql")) =~ s/^-- name: permits\n.*?\n\n//ms;
($status, $out, $err) = lockbench('lint', spew('semaphore.sql', $uncounted));
is($status, 2, 'permits without a count: refused');
like($err, qr/semaphore\.sql:\d+: claims permits, and has no section permits/, '... in words');
(my $unnamed = slurp("$folder/semaphore.sql")) =~ s/^(-- name: permits\n.*?)\bAS free\b/$1AS places/ms or die;
$unnamed =~ s/^(-- name: permits\n.*?)SELECT free\b/$1SELECT places/ms;
($status, $out, $err) = lockbench('lint', spew('semaphore.sql', $unnamed));
is($status, 2, 'permits without a column free: refused');
like($err, qr/semaphore\.sql:\d+: section permits: the statement that answers returns no column free: /, '... in words');

my $unclear = slurp("$folder/plainjob.sql");
$unclear =~ s/bounded-claim, /bounded-claim, fifo, /;
$unclear =~ s/^-- name: teardown/-- name: renew [sqlite]\nUPDATE work SET put_at = put_at WHERE id = :id;\n\n-- name: teardown/m;
(undef, $out) = lockbench('verify', '-s', spew('unclear.sql', $unclear), '-d', 'sqlite:', '-q', '--budget', '2s', '--no-explore');
like($out, qr/^(?:not )?ok \d+ - plainjob sqlite \S+ $_\b/m, "$_ is claimed, and has a line")
    for qw(no-duplicate no-loss bounded-claim fifo owner-release recovery);

# --- a gate that is opened again holds nothing: a worker that dies in it gives nothing back ---
SKIP: {
    skip 'no MariaDB', 1 if !defined $mariadb;
    (undef, $out) = lockbench('verify', '-s', "$folder/gate.sql", '-d', $mariadb, '--plan');
    unlike($out, qr/kill/, 'a queue that promises nothing about the dead: nobody is killed');
}

# --- unregistered processes ---
my $beating = slurp("$folder/heartbeat.sql");
(undef, $out) = lockbench('lint', spew('heartbeat.sql', $beating));
unlike($out, qr/register/, 'processes that register: no warning');
(my $unknown = $beating) =~ s/^-- name: register .*?\n\n//msg;
(undef, $out) = lockbench('lint', spew('heartbeat.sql', $unknown));
like($out, qr/heartbeat\.sql:\d+: warning: heartbeat changes rows of a table into which nothing is inserted: add a section register/,
    'a heartbeat for nobody: a warning');
$unknown =~ s/^-- name: (?:heartbeat|unregister|recover|sweep).*?\n\n//msg;
$unknown =~ s/owner-release, recovery\n/owner-release\n/;
(undef, $out) = lockbench('lint', spew('heartbeat.sql', $unknown));
like($out, qr/heartbeat\.sql:\d+: warning: it writes down :process, and nothing says which processes are alive/,
    'a process without a sign of life: a warning');

# --- a renewal that checks no holder ---
(undef, $out) = lockbench('lint', "$folder/visibility.sql", '--opt', 'renew=number');
like($out, qr/visibility\.sql:\d+: warning: renew checks neither holder nor token/, 'a renewal by the number alone: a warning');
(undef, $out) = lockbench('lint', "$folder/visibility.sql", '--opt', 'renew=own');
unlike($out, qr/renew asks/, '... and none where it asks');

# A hold of one transaction needs no fence.
for (['tx=hold', 0], ['tx=one', 1])
{
    my ($tx, $warns) = @$_;
    my $file = spew('held.sql', <<"SQL");
-- strategy: held
-- shape: lock
-- claims: exclusive, fenced
-- name: setup
CREATE TABLE held (name text PRIMARY KEY);
-- name: resource
INSERT INTO held (name) VALUES (:resource);
-- name: acquire $tx
UPDATE held SET name = name WHERE name = :resource;
-- name: release
@{[$warns ? 'SELECT 1 FROM held WHERE name = :resource;' : '']}
SQL
    (undef, $out) = lockbench('lint', $file, '-d', 'sqlite:');
    is($out =~ /claims fenced, and nothing uses a column token/ ? 1 : 0, $warns, "lint, $tx: the warning about tokens") or diag $out;
}

# One lock takes all: an exploration in which no worker gets two tells nothing, and must not pass in silence.
for (['', 0], ['name = :resource AND ', 1])
{
    my ($name, $is_right) = @$_;
    my $file = spew('greedy.sql', <<"SQL");
-- strategy: greedy
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE greedy (name varchar(64) PRIMARY KEY, free int NOT NULL);
-- name: resource
INSERT INTO greedy VALUES (:resource, 1);
-- name: acquire
UPDATE greedy SET free = 0 WHERE ${name}free = 1;
-- name: release
UPDATE greedy SET free = 1 WHERE name = :resource;
SQL
    for my $strict (0, 1) {
        ($status, $out) = lockbench('verify', '-s', $file, '-d', 'sqlite:', '-q', $strict ? '--strict' : ());
        is($status, $strict && !$is_right ? 5 : 0, "two locks at once, right $is_right, strict $strict: status");
        is($out =~ /not tested: explore\+two locks \(in no schedule could all workers finish\)/ ? 1 : 0, !$is_right ? 1 : 0,
            '... and what is told of it') or diag $out;
    }
}

# An error that names no item fails both items in hand, and the operator clears one of them by its number.
my (undef, $shown) = lockbench('show', 'merge-table-lock', '-d', 'sqlite:');
($status, $out) = lockbench('verify', '-s', spew('named.sql', $shown), '-d', 'sqlite:', '--plan');
like($out, qr/explore\+two\+error .*it has :n and error: a worker fails each of two items by itself/, 'error and :n: the plan asks for both');
($shown =~ s/(name: error.*?WHERE )id = :id AND /$1/s) or die 'no condition to leave out';
($status, $out) = lockbench('verify', '-s', spew('nameless.sql', $shown), '-d', 'sqlite:', '-q', '--budget', '10s');
is($status, 1, 'an error that names no item: status');
like($out, qr/^not ok \d+ - \S+ sqlite explore\+two\+error no-loss$/m, '... an item is lost') or diag $out;

done_testing();
