#!/usr/bin/env perl
# The published form of each article, on every engine that can express it, with the verdict that is written down
# here and in docs/articles/: violated, held, or a figure. Beside each that fails stands the repaired form, asked
# the same, which must not. Where a break is an interleaving it is explored, not hoped for.
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
my @every = grep { exists $uri{$_} } qw(sqlite postgres mariadb);

# The JSON of one run, or of exploring.
sub ask
{
    my ($command, $strategy, $engine, @rest) = @_;
    my ($status, $out, $err) = lockbench($command, '-s', $strategy, '-d', $uri{$engine}, @rest, '--format', 'json',
        $command eq 'explore' ? () : ('--quiet'));
    my $json = eval { decode_json($out) };
    diag "lockbench $command -s $strategy -d $engine @rest: $status\n$out$err" if !defined $json;
    return ($json // {}, $status);
}

sub verdict { my ($json, $guarantee) = @_; return $json->{cells}[0]{guarantees}{$guarantee}{verdict} // 'none' }
sub first_run { return $_[0]{cells}[0]{runs}[0] // {} }
sub explored { my ($json, $guarantee) = @_; return $json->{verdicts}{$guarantee} // 'none' }

sub proof
{
    my ($json, $name) = @_;
    my $proof = first_run($json)->{proof} // {};
    return ($proof->{name} // '') eq $name ? $proof->{verdict} : 'none';
}

# 2014, MERGE under a table lock.
for my $engine (@every) {
    my @chunks = ('-S', 'chunked-update', '--rows', '2000', '--backlog', '100', '--error', '0.2', '--workers', '4');
    my ($json) = ask('run', 'merge-table-lock', $engine, @chunks, '--opt', 'form=published');
    is(verdict($json, 'no-duplicate'), 'held', "merge, published, $engine: no item is handed out twice");
    is(proof($json, 'chunks'), 'violated', "merge, published, $engine: a range whose agent fails is lost: at most once");
    ($json) = ask('run', 'merge-table-lock', $engine, @chunks);
    is(proof($json, 'chunks'), 'held', "merge, repaired, $engine: it is done again");

    my @kill = ('-S', 'drain', '--backlog', '100', '--workers', '3', '--processes', '3', '--hold', '10ms', '--fault', 'kill',
        '--fault-interval', '100ms', '--fault-count', '2', '--ttl', '300ms', '--recover', '100ms');
    ($json) = ask('run', 'merge-table-lock', $engine, @kill, '--opt', 'form=published');
    my $dead = first_run($json)->{measures};
    is($dead->{stuck}, $dead->{deaths}, "merge, published, $engine: what a dead agent had is never handed out again");
    cmp_ok($dead->{deaths} // 0, '>', 0, "merge, published, $engine: and there were such");
    ($json) = ask('run', 'merge-table-lock', $engine, @kill);
    $dead = first_run($json)->{measures};
    is($dead->{stuck}, 0, "merge, repaired, $engine: what a dead agent had is freed by an operator's job");
}

# TABLOCK, which two may have at once, and TABLOCKX.
if (exists $uri{postgres}) {
    for my $mode ('share', 'access-exclusive') {
        my ($json) = ask('run', 'merge-table-lock', 'postgres', '-S', 'drain', '--backlog', '100', '--opt', "lock_mode=$mode");
        my $n = first_run($json)->{operations}{acquire}{answers}{deadlock};
        cmp_ok($n, $mode eq 'share' ? '>' : '==', 0, "merge, lock_mode=$mode: deadlocks");
        is(verdict($json, 'no-duplicate'), 'held', "merge, lock_mode=$mode: and no item twice");
    }
}

# The question on checking out records: the gatekeeper.
for my $engine (grep { $_ ne 'sqlite' } @every) {
    my ($json) = ask('explore', 'gatekeeper-early', $engine, '--first');
    is(explored($json, 'no-duplicate'), 'violated', "gatekeeper, published without its hints, $engine: claims twice");
    for my $form ('commit', 'published') {
        ($json) = ask('explore', 'gatekeeper', $engine, '--opt', "form=$form");
        is(explored($json, 'no-duplicate'), 'held', "gatekeeper, form=$form, $engine: explored, claims once");
    }
    my @ahead = ('-S', 'drain', '--locked-ahead', '20', '--backlog', '50', '--duration', '700ms');
    ($json) = ask('run', 'gatekeeper', $engine, @ahead, '--opt', 'form=published');
    is(first_run($json)->{operations}{acquire}{succeeded}, 30,
        "gatekeeper, published, $engine: its hints step over locked rows");
    ($json) = ask('run', 'gatekeeper', $engine, @ahead);
    is(first_run($json)->{operations}{acquire}{succeeded}, 0, "gatekeeper, form=commit, $engine: waits at the first of them");
}

# 1999, the task list.
for my $engine (@every) {
    my ($json) = ask('explore', 'nowait', $engine, '--opt', 'form=published');
    is(explored($json, 'no-duplicate'), 'held', "task list, published, $engine: explored, claims once");
    for my $form ('published', 'safe') {
        ($json) = ask('run', 'nowait', $engine, '-S', 'task-list', '--opt', "form=$form");
        my $asked = first_run($json)->{operations}{acquire};
        cmp_ok($asked->{gave_up}, '<=', $asked->{given_up}, "task list, $form, $engine: who gave up is among those without a task");
        is($asked->{succeeded}, 104, "task list, $form, $engine: every task is done");
        is(verdict($json, $_), 'held', "task list, $form, $engine: $_") for 'no-duplicate', 'no-loss', 'bounded-claim';
    }
}

# One row, and two who want it at once, each with one try: somebody gives up, and that is counted.
for my $engine (grep { $_ ne 'sqlite' } @every) {
    my ($json, $status) = ask('run', 'nowait', $engine, '-S', 'drain', '--locked-ahead', '20', '--backlog', '20', '--tries', '2',
        '--duration', '300ms', '--warmup', '0', '--no-drain');
    my $asked = first_run($json)->{operations}{acquire};
    cmp_ok($asked->{gave_up}, '>', 0, "task list, $engine: rows that others have locked, and so all give up");
    is($asked->{answers}{busy} >= 2 * $asked->{gave_up} ? 1 : 0, 1, "task list, $engine: after two refusals each");
}

# An error in the middle of a chunk: committed with the work so far, the chunk is applied twice in part.
for my $engine (@every) {
    my @chunks = ('-S', 'chunked-update', '--rows', '2000', '--backlog', '100', '--error', '0.2', '--workers', '4');
    for my $form ('published', 'safe') {
        my ($json) = ask('run', 'nowait', $engine, @chunks, '--opt', "form=$form");
        is(proof($json, 'chunks'), 'held', "task list, $form, $engine: a chunk that was rolled back first is applied once");
        ($json) = ask('run', 'nowait', $engine, @chunks, '--opt', "form=$form", '--partial');
        is(proof($json, 'chunks'), 'violated', "task list, $form, $engine: committed with its error, half of it is applied twice");
    }
}

# 2009, the control table. What a poll reads decides: a snapshot lets two in, a locking read, and one writer, do not.
for my $engine (@every) {
    my @options = ('--opt', 'form=published');
    my $violated = $engine eq 'sqlite' ? 'held' : 'violated';
    my ($json) = ask('explore', 'fifo-poll', $engine, @options);
    is(explored($json, 'exclusive'), $violated, "control table, published, $engine: explored, exclusive is $violated");
    is(explored($json, 'fifo'), $violated, "control table, published, $engine: explored, fifo is $violated");
    next if $engine ne 'mariadb';
    for my $form ('published', 'extended') {
        ($json) = ask('explore', 'fifo-poll', $engine, '--opt', "form=$form", '--opt', 'read=locking');
        is(explored($json, $_), 'held', "control table, $form, $engine: with locking reads $_ holds") for 'exclusive', 'fifo';
        ($json) = ask('run', 'fifo-poll', $engine, '-S', 'mutex-pair', '--duration', '2s', '--opt', "form=$form", '--opt', 'read=locking');
        is(verdict($json, $_), 'held', "control table, $form, $engine: and under stress: $_") for 'exclusive', 'fifo';
    }
}
{
    my ($json) = ask('run', 'fifo-poll', 'sqlite', '-S', 'control-table', '--hold', '50ms', '--poll', '10ms', '--poll-max', '10ms',
        '--think', '10ms', '--duration', '1s');
    is(verdict($json, 'exclusive'), 'held', 'control table at its own pace, a hundred times faster: held');
}

# What a process calls itself: a number that the next one gets is the dead one's place in line, for better or worse.
for my $engine (@every) {
    my ($json) = ask('run', 'fifo-poll', $engine, '-S', 'dead-holder', '--ids', 'spid');
    my $dead = first_run($json)->{measures};
    is($dead->{recovered}, $dead->{deaths}, "control table, ids=spid, $engine: the next one with that number inherits the place");
    is(verdict($json, 'fifo'), 'violated', "control table, ids=spid, $engine: and so goes before those who came earlier");
    for my $ids ('guid', 'host') {
        ($json) = ask('run', 'fifo-poll', $engine, '-S', 'dead-holder', '--ids', $ids);
        $dead = first_run($json)->{measures};
        is("$dead->{recovered} of $dead->{deaths}", '0 of 1', "control table, ids=$ids, $engine: the dead one's row bars all others");
        is(verdict($json, 'fifo'), 'held', "control table, ids=$ids, $engine: in order, until then");
    }
}

# 2012, job_status. Long holds go side by side with what follows.
my @holds;
for my $engine (@every) {
    my @now = ('--opt', 'first_run=now');
    my ($json) = ask('run', 'lease-update', $engine, '-S', 'mutex-hot', '--duration', '400ms', '--warmup', '0', '--progress-bound', '300ms');
    is(verdict($json, 'progress'), 'violated', "job_status, published, $engine: a due time of NULL is never due");
    # Each hold begins a tenth of a second earlier in its second than the one before: within ten, one begins where its
    # start is rounded down by more than a tenth.
    my @hold = ('-S', 'mutex-hot', '--workers', '3', '--hold', '900ms', '--think', '1ms', '--ttl', '1s', '--poll', '20ms',
        '--poll-max', '20ms', '--progress-bound', '0', '--duration', '6s', '--warmup', '0', '--format', 'json', '--quiet');
    push @holds, map { { engine => $engine, times => $_, run => start('run', '-s', 'lease-update', '-d', $uri{$engine}, @hold,
        @now, '--opt', "times=$_") } } 'second', 'ms';
    ($json) = ask('run', 'lease-update', $engine, '-S', 'dead-holder', @now, '--opt', 'slip=yes');
    is(verdict($json, 'recovery'), 'violated', "job_status, two columns for one, $engine: nobody takes over from the dead");
    ($json) = ask('run', 'lease-update', $engine, '-S', 'dead-holder', @now);
    is(verdict($json, 'recovery'), 'held', "job_status, one column, $engine: somebody does");
    for my $name ('lease-update', 'lease-update-safe') {
        ($json) = ask('run', $name, $engine, '-S', 'several-jobs', '--duration', '2s', $name eq 'lease-update' ? @now : ());
        is(proof($json, 'schedule'), 'held', "job_status, $name, $engine: several jobs, one run of each in each period");
    }
}

# The question on checking out records: UPDATE TOP (1) without an order, where there is such a statement.
if (exists $uri{mariadb}) {
    my ($json) = ask('explore', 'skip-locked', 'mariadb', '--opt', 'form=update');
    is(explored($json, 'no-duplicate'), 'held', 'UPDATE TOP (1), mariadb: explored, claims once');
    ($json) = ask('run', 'skip-locked', 'mariadb', '-S', 'drain', '--opt', 'form=update');
    is(verdict($json, $_), 'held', "UPDATE TOP (1), mariadb: $_") for 'no-duplicate', 'no-loss', 'bounded-claim';
}
for my $engine (@every) {
    my ($json) = ask('run', 'merge-table-lock', $engine, '-S', 'take-ten');
    is(first_run($json)->{items}, 1000, "Take(10) until empty, $engine: every item");
    is(verdict($json, $_), 'held', "Take(10) until empty, $engine: $_") for 'no-duplicate', 'no-loss', 'bounded-claim';
}
for my $hold (@holds) {
    my ($status, $out, $err) = finish($hold->{run});
    my $json = eval { decode_json($out) } // {};
    my $wanted = $hold->{times} eq 'second' ? 'violated' : 'held';
    is(verdict($json, 'exclusive'), $wanted, "job_status, times=$hold->{times}, $hold->{engine}: holds of 900 ms in leases of 1 s")
        or diag $out, $err;
}
done_testing();
