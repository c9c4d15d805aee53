#!/usr/bin/env perl
# A protocol that lockbench has never seen: plain `verify -s FILE -d URI` finds what is wrong with it, and nothing
# where nothing is. The files in tests/strangers are written as users bring them; truth.tsv says what is known.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/strangers";
my ($postgres) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
my ($mariadb) = grep { /^mariadb/ } split /\n/, $ENV{LB_TEST_URIS} // '';
my %uri = (postgres => $postgres, mariadb => $mariadb, sqlite => 'sqlite:');

# --- the plan ---
my ($status, $out, $err) = lockbench('verify', '-s', "$folder/plainjob.sql", '-d', 'sqlite:', '--plan');
is($status, 0, '--plan: exit status') or diag $err;
like($out, qr/^  limit  timeout_ms, inferred from line 38; 1800000 ms by default/m, 'the limit, and where it was found');
like($out, qr/^ +\d+ explore  /m, 'explored');
like($out, qr/^ +\d+ queue-rescue .* what ends a claim asks for no holder$/m, 'recovery, with its reason');
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

# --- the words ---
($status, $out, $err) = until_shown(sub { return $_[1] =~ /^# plainjob on sqlite breaks no-duplicate:$/m },
    'verify', '-s', "$folder/plainjob.sql", '-d', 'sqlite:', '-q');
like($err, qr/^# plainjob on sqlite breaks no-duplicate:\n(?:#   \S+plainjob\.sql:\d+: .*\n)+#   to change: /m,
    'a harness is told on standard error what to change');
like($out, qr/^# limit of recover: timeout_ms, inferred from line 38/m, 'the plan in short');
# It breaks owner-release as well, in most runs: once in some thirty items. A machine that stands still hides both.
my ($words) = $out =~ /^# plainjob on sqlite breaks no-duplicate:\n((?:#   .*\n)+)/m;
like($words // '', qr/without having been given back.*\n#   \S+plainjob\.sql:28: SELECT id, payload .*\n#   \S+plainjob\.sql:38: /,
    'what happened, and the lines that allow it');
like($words // '', qr/^#   to change: let recover go by the time of the claim/m, 'what to change');
my ($command) = ($words // '') =~ /^#   shown by: lockbench (.*)$/m;
like($out, qr/^# plainjob on sqlite: \d guarantees? broken in \d+ s: \d+ schedules explored/m, 'and what was looked for');
like($command // '', qr/^(?:run|explore) -s \S+plainjob\.sql -d sqlite: /, 'the command that shows it alone');
($status, my $again) = until_shown(sub { return $_[0] == 1 }, split ' ', $command // 'none');
is($status, 1, '... which does') or diag $command, $again;
is(() = $out =~ /no bound was given/g, 0, 'no SKIP for want of a bound');

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
my @renewal = ('--steps', 'clock', '--items', '1', '--renewals', '1', '--time', '10m', '-q');
for (['visibility', 'renew=own', 0], ['visibility', 'renew=number', 1], ['visibility', 'renew=row', 1],
    ['visibility', 'renew=back', 1], ['heartbeat', 'rescue=silent', 0], ['heartbeat', 'rescue=old', 1])
{
    my ($file, $option, $expected) = @$_;
    my @rescuer = $file eq 'heartbeat' ? ('--rescuers', '1', '--workers', '1', '--rounds', '2') : ();
    ($status, $out, $err) = lockbench('explore', '-s', "$folder/$file.sql", '-d', 'sqlite:', '--opt', $option, @renewal, @rescuer);
    is($status, $expected, "$file, $option: exit status") or diag $out, $err;
    like($out, $expected ? qr/no-duplicate +violated/ : qr/no-duplicate +held/, '... by the right guarantee');
}
my @queue = ('--workers', '4', '--producers', '1', '--put-interval', '160ms', '--hold', '450ms', '--ttl', '200ms', '--duration', '1s',
    '--warmup', '0', '--renew', '60ms', '-q');
($status, $out, $err) = lockbench('run', '-s', "$folder/visibility.sql", '-d', 'sqlite:', '-S', 'queue-overrun', @queue);
unlike($out, qr{violated}, 'renewals in time: nothing is accused');
like($out, qr{^visibility +sqlite }m, '... and it was run') or diag $err;

# --- one time by the workers' clocks, another by the server's ---
(undef, $out) = lockbench('verify', '-s', "$folder/clocks-lock.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^ +\d+ clocks $_ .*line \d+ goes by :now, line \d+ by the server's clock: .* are $_ (?:of )?it$/m, "clocks $_: planned")
    for 'ahead', 'behind';
(undef, $out) = lockbench('verify', '-s', "$folder/operator.sql", '-d', 'sqlite:', '--plan');
unlike($out, qr/clocks (?:ahead|behind)/, '... but not where all goes by one kind');
for (['clocks-lock', 'mixed', 'exclusive'], ['clocks-lock', 'stamped', 'exclusive'], ['clocks-queue', 'mixed', 'no-duplicate'],
    ['clocks-beat', 'mixed', 'no-duplicate'])
{
    my ($file, $clock, $guarantee) = @$_;
    my @parted = ('verify', '-s', "$folder/$file.sql", '-d', 'sqlite:', '--no-explore', '-q', '--budget', '20s');
    ($status, $out) = until_shown(sub { return $_[1] =~ /^not ok \d+ - \S+ sqlite clocks \w+ $guarantee$/m }, @parted, '--opt', "clock=$clock");
    like($out, qr/^not ok \d+ - \S+ sqlite clocks (?:ahead|behind) $guarantee$/m, "$file, $clock: what breaks is seen");
    is(() = $out =~ /^not ok .* (?!clocks (?:ahead|behind))\S+ \S+ $guarantee$/mg, 0, '... where clocks differ, and nowhere else');
    like($out, qr/^#   \S+$file\.sql:(\d+): .*\n(?:#   \S+$file\.sql:(?!\1:)\d+: .*\n)?#   to change: a time that one clock wrote is compared with another/m,
        '... in words');
    next if $clock eq 'stamped';
    my @other = $file eq 'clocks-beat' ? '--opt=clock=server' : '--opt=clock=workers';
    ($status, $out) = lockbench(@parted, @other);
    is($status, 0, "$file, one clock: not accused") or diag $out;
    like($out, qr/^ok \d+ - \S+ sqlite clocks (?:ahead|behind) $guarantee$/m, '... and it was asked') if $file ne 'clocks-beat';
}
($status, undef, $err) = lockbench('run', '-s', "$folder/clocks-lock.sql", '-d', 'sqlite:', '--skewed', 'behind');
is($status, 2, 'skewed without skew: refused');
like($err, qr/skewed: needs skew/, '... in words');

# --- a form that has no statement for what a scenario sets ---
($status, $out) = lockbench('verify', '-s', 'fifo-poll', '--opt', 'form=published', '--faults', 'kill', '-d', 'sqlite:', '-q');
like($out, qr/# SKIP .*: no section acquire applies to sqlite with stale_ms=\d+; the nearest, in line \d+, wants --opt stale_ms=0$/m,
    'a SKIP says which option is in the way, and what to ask for');
($status, $out) = lockbench('verify', '-s', 'fifo-poll', '--opt', 'form=published', '--opt', 'stale_ms=0', '--faults', 'kill',
    '-d', 'sqlite:', '-q', '--duration', '500ms');
unlike($out, qr/no section/, '... which is run then');
like($out, qr/^(?:not )?ok \d+ - fifo-poll sqlite mutex-hot\+kill exclusive/m, '... and judged');

# --- what explorations leave of their time goes to those behind them; what is not explored to its end is told ---
my @taken = ('-s', "$folder/fences.sql", '-d', 'sqlite:', '--opt', 'number=read', '--budget', '24s');
(undef, $out) = lockbench('verify', @taken, '--plan');
my ($planned) = $out =~ /^ +\d+ explore\+takeover +([\d.]+) s/m;
my $cut = qr/^#   not explored to the end: explore\+takeover, .*ended after ([\d.]+) s, .*\n#   --budget 10m goes on for longer$/m;
(undef, $out) = until_shown(sub { return $_[1] =~ $cut && $1 > 1.1 * $planned }, 'verify', @taken, '-q');
my ($given) = $out =~ $cut;
cmp_ok($given // 0, '>', 1.1 * ($planned // 99), 'the last exploration has the time that others have left');

# --- in words, for each guarantee: what happened, the lines, what to change by what the file has, and the command ---
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
    ['stuck', 'free=due', 'progress', 'UPDATE held .* due_ms <= :now', 'nobody is ever granted it: what setup, or resource, writes'],
    ['greedy', 'take=all', 'bounded-claim', 'UPDATE job SET state = 1 WHERE state = 0 RETURNING', 'claim marks all that is ready'],
    ['semaphore', 'release=always', 'permits', '\S', 'change the count only together with the row of a holder'],
    ['at-most-once', 'after=again', 'once', '\S', 'what was claimed and is not done may have been begun'],
    ['grouped', 'take=any', 'group-exclusive', 'UPDATE|SELECT', 'two claims that do not see each other take two items'],
    ['own-rows', 'release=all', 'owner-release', 'DELETE', 'let what ends a hold ask whose it is'],
    ['prolonged', 'renew=added', 'recovery', 'UPDATE', 'let renew write the time that acquire goes by']);
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
    like($said // '', qr/^#   to change: .*\Q$row->{change}/m, '... and what to change');
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
like($out, qr/^#   to change: claim itself takes what another has in hand/m, 'a claim that takes what is taken');
unlike($out, qr/^#   to change: let recover/m, '... and no word of its recover');

# Put behind the position, or given back behind it: either may be met first.
($status, $out) = until_shown(sub { return $_[1] =~ /^# position on sqlite breaks no-loss:$/m },
    'verify', '-s', "$folder/position.sql", '-d', 'sqlite:', '--opt', 'back=behind', '-q', '--no-explore');
like($out, qr/^#   to change: what (?:is given back|was put) is not found/m, 'position: what is lost, and why');

# --- groups, work that is begun once, and a count of permits: explored, which takes no luck ---
for (['semaphore', 'release=own', 0, 'permits', '--steps', 'clock'], ['semaphore', 'release=always', 1, 'permits', '--steps', 'clock'],
    ['grouped', 'take=alone', 0, 'group-exclusive'], ['grouped', 'take=any', 1, 'group-exclusive'],
    ['operator', 'stamp=held', 0, 'exclusive', '--steps', 'clock', '--rescuers', '1'],
    ['operator', 'stamp=made', 1, 'exclusive', '--steps', 'clock', '--rescuers', '1'],
    ['prolonged', 'renew=from-now', 0, 'recovery', '--steps', 'clock,crash', '--renewals', '2'],
    ['prolonged', 'renew=added', 1, 'recovery', '--steps', 'clock,crash', '--renewals', '2'],
    ['dead-waiter', 'seen=all', 1, 'recovery', '--steps', 'clock,crash'],
    ['own-rows', 'release=own', 0, 'owner-release', '--steps', 'clock'],
    ['own-rows', 'release=all', 1, 'owner-release', '--steps', 'clock'],
    ['takeover', 'remove=found', 0, 'exclusive', '--steps', 'clock'],
    ['takeover', 'remove=any', 1, 'exclusive', '--steps', 'clock', '--rounds', '2', '--first'],
    ['looked', 'release=asked', 0, 'exclusive', '--steps', 'clock', '--rounds', '2'],
    ['looked', 'release=looked', 1, 'exclusive', '--steps', 'clock', '--rounds', '2', '--first'],
    ['lanes', 'put=at-once', 0, 'no-loss', '--workers', '1', '--producers', '1', '--items', '1'],
    ['lanes', 'put=apart', 1, 'no-loss', '--workers', '1', '--producers', '1', '--items', '1'],
    ['at-most-once', 'after=lost', 0, 'once', '--steps', 'clock', '--rescuers', '1', '--items', '1'],
    ['at-most-once', 'after=again', 1, 'once', '--steps', 'clock', '--rescuers', '1', '--items', '1'])
{
    my ($file, $option, $expected, $guarantee, @more) = @$_;
    ($status, $out, $err) = lockbench('explore', '-s', "$folder/$file.sql", '-d', 'sqlite:', '--opt', $option, '--time', '10m', '-q', @more);
    is($status, $expected, "$file, $option: exit status") or diag $out, $err;
    like($out, $expected ? qr/$guarantee +violated/ : qr/$guarantee +held/, '... by the right guarantee');
}
# Planned for what each file has, and what shows it.
for (['lanes', 'explore\+put', '--opt', 'put=apart'], ['cleared', 'rounds'], ['receipts', 'batches late'],
    ['batch-failed', 'give-back by five'], ['group-take', 'groups by two'], ['as-text', 'steady\+kill'])
{
    my ($file, $name, @option) = @$_;
    (undef, $out, $err) = lockbench('verify', '-s', "$folder/$file.sql", '-d', 'sqlite:', '--plan', @option);
    like($out, qr/^ +\d+ $name /m, "$file: $name is planned") or diag $err;
}
for (['cleared', 'clear=all', 'clear=failed', 'no-duplicate', '-S', 'rounds', '--error', '0.3', '--free', '0', '--backlog', '60'],
    ['batch-failed', 'fail=rest', 'fail=one', 'no-duplicate', '-S', 'give-back', '--batch', '5', '--free', '0', '--error', '0.1'],
    ['group-take', 'take=many', 'take=first', 'group-exclusive', '-S', 'drain', '--batch', '2', '--groups', '3', '--backlog', '60'],
    ['receipts', 'match=lists', 'match=pairs', 'owner-release', '-S', 'queue-overrun', '--batch', '4', '--put-interval', '15ms',
        '--workers', '6', '--hold', '100ms', '--duration', '2s'])
{
    my ($file, $broken, $right, $guarantee, @run) = @$_;
    ($status, $out) = until_shown(sub { return $_[1] =~ /^  $guarantee, \d+ times? in/m },
        'run', '-s', "$folder/$file.sql", '-d', 'sqlite:', '--opt', $broken, '-q', @run);
    like($out, qr/^  $guarantee, \d+ times? in/m, "$file, $broken: seen");
    ($status, $out, $err) = lockbench('run', '-s', "$folder/$file.sql", '-d', 'sqlite:', '--opt', $right, '-q', @run);
    unlike($out, qr/VIOLATED/, "$file, $right: not accused") or diag $out;
}
(undef, $out) = lockbench('verify', '-s', "$folder/takeover.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^ +\d+ explore\+takeover /m, 'taking over by several statements is planned');
(undef, $out) = lockbench('verify', '-s', "$folder/prolonged.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^ +\d+ explore\+renew\+crash /m, 'the death of who has renewed is planned');

(undef, $out) = lockbench('verify', '-s', "$folder/retried-lease.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^ +\d+ give back late /m, 'who retries too late is planned');

# --- each way to end what is over, and to leave a line: what is planned for it shows it. All at once, as most is waiting ---
my @late = map {
    my ($file, $option, $ask, $guarantee, @run) = @$_;
    my @file = ('-s', "$folder/$file.sql", '-d', 'sqlite:', '--opt', $option);
    { what => "$file, $option", ask => $ask, file => \@file, run => ['run', @file, @run, '-q'], shown => qr/^  $guarantee, \d+ times? in /m }
} (['failed-late', 'fail=number', 'fail late', 'owner-release', '-S', 'queue-overrun', '--error', '0.5'],
    ['nacked', 'nack=number', 'give back late', 'owner-release', '-S', 'queue-rescue', '--free', '0.5'],
    ['group-lease', 'end=number', 'groups late', 'group-exclusive', '-S', 'queue-overrun', '--groups', '2'],
    ['rw-lease', 'end=all', 'readers overrun', 'exclusive', '-S', 'overrun', '--shared', '0.5'],
    ['give-up', 'give=all', 'give up', 'exclusive', '-S', 'mutex-hot', '--tries', '3', '--workers', '3', '--hold', '5ms']);
# The bound begins when a limit is over: behind the first deaths there has to be time for both.
push @late, { what => 'a limit in seconds', ask => 'steady\+kill', shown => qr/^not ok \d+ - unfreed sqlite steady\+kill recovery$/m,
    file => ['-s', phased_queue('unfreed', ':rescue_s * 1000 AND id < 0', "-- option: rescue_s = 3600\n-- limit: rescue_s\n"), '-d', 'sqlite:'] };
$late[-1]{run} = ['verify', @{ $late[-1]{file} }, '--no-explore', '-q'];
$_->{started} = start(@{ $_->{run} }) for @late;
for my $late (@late) {
    (undef, $out) = lockbench('verify', @{ $late->{file} }, '--plan');
    like($out, qr/^ +\d+ $late->{ask}  /m, "$late->{what}: \"$late->{ask}\" is planned");
    ($status, $out) = finish($late->{started});
    ($status, $out) = until_shown(sub { return $_[1] =~ $late->{shown} }, @{ $late->{run} }) if $out !~ $late->{shown};
    like($out, $late->{shown}, '... and shows what breaks') or diag $out;
}
(undef, $out) = lockbench('verify', '-s', "$folder/plainjob.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^ +\d+ fail late  /m, 'also where recover takes what is over');
unlike($out, qr/groups late|give back late|give up/, '... but not what it has not');
(undef, $out) = lockbench('verify', '-s', "$folder/dead-waiter.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^ +\d+ explore\+crash  /m, 'waiters in a line die as well, also where they go by their clocks');

# --- a lease in seconds: its scenarios are longer, the budget is not ---
(my $slow = slurp("$folder/prolonged.sql")) =~ s/:ttl_ms/1000 * :lease_s/g;
$slow =~ s/^(-- option: renew)/-- option: lease_s = 60\n$1/m;
(undef, $out) = lockbench('verify', '-s', spew('slow.sql', $slow), '-d', 'sqlite:', '--plan');
like($out, qr/^prolonged on sqlite: at most (?:[1-5]?\d|60) s of 60 s$/m, 'no longer than the budget');
my ($least) = $out =~ /^ +\d+ overrun +([\d.]+) s/m;
cmp_ok($least // 0, '>', 5, 'what takes longer counts as that');

# --- an operator frees what is held for too long ---
(undef, $out) = lockbench('verify', '-s', "$folder/operator.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^  lease  longest_ms, inferred from line \d+; 600000 ms by default, which each scenario replaces; recover ends it$/m,
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
    like($out, qr/^ +- explore\+cut +left out: .*--budget 10m asks it$/m, '... if there is time');
    (undef, $out) = lockbench('verify', '-s', "$folder/shedlock-dbtime.sql", '-d', 'sqlite:', '--plan', '--budget', '10m');
    unlike($out, qr/explore\+cut/, '... and a connection');
}
($status, $out) = until_shown(sub { return $_[1] =~ /^operator +sqlite +kill +\d+ +\d+ +([1-9]\d*) +\1 +0 /m },
    'run', '-s', "$folder/operator.sql", '-d', 'sqlite:', '-S', 'dead-holder', '--duration', '1s', '-q');
like($out, qr/^operator +sqlite +kill +\d+ +\d+ +([1-9]\d*) +\1 +0 /m, 'what the dead had is granted again');
($status, $out) = until_shown(sub { return $_[0] == 1 }, 'run', '-s', "$folder/operator.sql", '-d', 'sqlite:', '-S', 'dead-holder',
    '--duration', '1s', '--opt', 'stamp=made', '-q');
like($out, qr/^  exclusive, /m, 'an operator who frees young holds is seen');

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

my $unclear = slurp("$folder/plainjob.sql");
$unclear =~ s/bounded-claim, /bounded-claim, fifo, /;
$unclear =~ s/^-- name: teardown/-- name: renew [sqlite]\nUPDATE work SET put_at = put_at WHERE id = :id;\n\n-- name: teardown/m;
(undef, $out) = lockbench('verify', '-s', spew('unclear.sql', $unclear), '-d', 'sqlite:', '-q', '--budget', '2s', '--no-explore');
like($out, qr/^(?:not )?ok \d+ - plainjob sqlite \S+ $_\b/m, "$_ is claimed, and has a line")
    for qw(no-duplicate no-loss bounded-claim fifo owner-release recovery);

# --- a gate that is opened again holds nothing: nobody who dies in it gives anything back ---
SKIP: {
    skip 'no MariaDB', 1 if !defined $mariadb;
    (undef, $out) = lockbench('verify', '-s', "$folder/gate.sql", '-d', $mariadb, '--plan');
    unlike($out, qr/kill/, 'a queue that promises nothing about the dead: nobody is killed');
}

# --- processes that nobody knows ---
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
(my $mute = $beating) =~ s/WHERE name = :process;\n\n-- name: heartbeat \[sqlite\] when beat=host/WHERE name = 'no' || :process;\n\n-- name: heartbeat [sqlite] when beat=host/;
($status, $out, $err) = until_shown(sub { return $_[0] == 5 }, 'run', '-s', spew('mute.sql', $mute), '-d', 'sqlite:', '-S', 'queue-rescue',
    '--hold', '450ms', '--renew', '50ms', '--duration', '1500ms', '-q');
is($status, 5, 'a heartbeat that never finds a row: nothing was tested') or diag $out, $err;
like($out, qr/section heartbeat found no row, (\d+) times of \1,/, '... in words');

# --- a renewal that asks for nobody ---
(undef, $out) = lockbench('lint', "$folder/visibility.sql", '--opt', 'renew=number');
like($out, qr/visibility\.sql:\d+: warning: renew asks for neither holder nor token/, 'a renewal by the number alone: a warning');
(undef, $out) = lockbench('lint', "$folder/visibility.sql", '--opt', 'renew=own');
unlike($out, qr/renew asks/, '... and none where it asks');

# --- the truth ---
my @todo = map { [split /\t/] } grep { !/^file\t/ } split /\n/, slurp("$folder/truth.tsv");
# Right files take the longest, as all is asked of them: most of them only in a soak. Most defects are shown by what is
# asked first; some need the whole budget, and these begin first. Of several with one defect, one is asked.
my %needs_all = map { ("$_.sql" => 1) } qw(rescue-listed pruned-hidden);
if (!$ENV{LB_TEST_SOAK}) {
    my $spared = qr/^(?:visib|operator|looked|heart|oban|pruned-alive|copy-skip-locked-nofence|retried|insert|grouped|at-most|semaphore|prolonged|takeover|gate|own-rows|clocks|fences|orders|in-line|stuck|position|greedy|drawn|failed-late|nacked|group-lease|rw-lease|give-up|dead-waiter)/;
    @todo = grep { $_->[0] !~ $spared && ($_->[3] ne 'right' || $_->[0] =~ /^(?:copy|pgmq)/) } @todo;
    @todo = ((grep { $needs_all{ $_->[0] } } @todo), (grep { !$needs_all{ $_->[0] } } @todo));
}
# Which of the rest are under way: most of it is waiting.
sub fill
{
    for my $row (grep { defined $uri{ $_->{engine} } } @todo[0 .. ($#todo < 7 ? $#todo : 7)]) {
        $row->{run} //= start(@{ $row->{args} });
    }
    return;
}

# A broken file is accused by the guarantee that it breaks, unless the machine stood still at the time: then it is asked
# again. An accusation of a right one stands.
@todo = map {
    my ($file, $engine, $options, $truth, $guarantees) = @$_;
    my @args = ('verify', '-s', "$folder/$file", $options eq '-' ? () : split(/ /, $options), '-d', $uri{$engine} // '', '-q');
    push @args, '--budget', '20s' if !$ENV{LB_TEST_SOAK} && !$needs_all{$file};
    my $named = join '|', split /,/, $guarantees;
    { what => "$file $options", engine => $engine, truth => $truth, args => \@args,
        is_named => qr/^not ok \d+ - \S+ \S+ .* (?:$named)$/m }
} @todo;
while (@todo) {
    fill();
    my $row = shift @todo;
    my ($what, $truth, $is_named) = @$row{qw(what truth is_named)};
  SKIP: {
        skip "$what: no $row->{engine} server", 2 if !defined $row->{run};
        ($status, $out, $err) = finish($row->{run});
        ($status, $out, $err) = until_shown(sub { return $_[1] =~ $is_named }, @{ $row->{args} })
            if $truth eq 'broken' && $out !~ $is_named;
        is($status, { right => 0, broken => 1, refused => 2 }->{$truth}, "$what: $truth") or diag $out, $err;
        if ($truth eq 'broken') {
            like($out, $is_named, "$what: by the right guarantee");
        } else {
            unlike($out, qr/^not ok/m, "$what: nothing is accused");
        }
    }
}

done_testing();
