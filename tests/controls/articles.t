#!/usr/bin/env perl
# The published form of each article, on every engine that can express it, with the verdict that is written down
# here and in docs/articles/: violated, held, or a figure. Beside each that fails stands the repaired form, asked
# the same, which must not. Where a break is an interleaving it is explored, not hoped for. Most of each run is
# waiting, so several go side by side; their results do not depend on speed: a result that needs a
# machine that does not stand still is tried until it appears.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $AT_ONCE = 4;
my %uri = (sqlite => 'sqlite:');
for my $uri (split /\n/, $ENV{LB_TEST_URIS} // '') {
    $uri{postgres} //= $uri if $uri =~ /^postgres/;
    $uri{mariadb} //= $uri if $uri =~ /^(?:mariadb|mysql)/;
}
my @every = grep { exists $uri{$_} } qw(sqlite postgres mariadb);

# Asks for one run, or for exploring; the last argument is called with its JSON and exit status, later.
my @asked;
sub ask
{
    my ($command, $strategy, $engine, @rest) = @_;
    my $then = pop @rest;
    my @args = ($command, '-s', $strategy, '-d', $uri{$engine}, @rest, '--format', 'json',
        $command eq 'explore' ? ('--time', '10m') : ('--quiet'));
    push @asked, { args => \@args, then => $then };
    return;
}

# The same for a run that may have no result if the machine stands still: is_there checks its JSON.
sub ask_until
{
    my ($is_there, @rest) = @_;
    ask(@rest);
    $asked[-1]{is_there} = $is_there;
    return;
}

# All that was asked, in this order.
sub answer
{
    for my $i (0 .. $#asked) {
        for my $next (@asked[$i .. ($i + $AT_ONCE - 1 < $#asked ? $i + $AT_ONCE - 1 : $#asked)]) {
            $next->{run} //= start(@{ $next->{args} });
        }
        my ($status, $out, $err) = finish($asked[$i]{run});
        my $json = eval { decode_json($out) };
        my $is_there = $asked[$i]{is_there};
        if ($is_there && !$is_there->($json // {})) {
            ($status, $out, $err) = until_shown(sub { return $is_there->(eval { decode_json($_[1]) } // {}) }, @{ $asked[$i]{args} });
            $json = eval { decode_json($out) };
        }
        my $before = () = Test::More->builder->summary;
        $asked[$i]{then}->($json // {}, $status);
        my @results = Test::More->builder->summary;
        diag "lockbench @{$asked[$i]{args}}: $status\n$out$err" if grep { !$_ } @results[$before .. $#results];
    }
    return;
}

sub verdict { my ($json, $guarantee) = @_; return $json->{cells}[0]{guarantees}{$guarantee}{verdict} // 'none' }
sub first_run { return $_[0]{cells}[0]{runs}[0] // {} }
# "no violation found" is "held" where an answer that the engine gave once, on a loaded machine, did not come again.
sub explored_verdict
{
    my ($json, $guarantee) = @_;
    my $verdict = $json->{verdicts}{$guarantee} // 'none';
    return $verdict eq 'no violation found' && ($json->{schedules} // 0) > 1 ? 'held' : $verdict;
}

# For ask_until: a worker died; these guarantees have a verdict.
sub has_dead { my ($json) = @_; return (first_run($json)->{measures}{deaths} // 0) > 0 }
sub is_judged
{
    my (@guarantees) = @_;
    return sub { my ($json) = @_; return !grep { verdict($json, $_) !~ /^(?:held|violated)$/ } @guarantees };
}

sub proof
{
    my ($json, $name) = @_;
    my $proof = first_run($json)->{proof} // {};
    return ($proof->{name} // '') eq $name ? $proof->{verdict} : 'none';
}

# 2014, MERGE under a table lock.
for my $engine (@every) {
    my @chunks = ('-S', 'chunked-update', '--rows', '2000', '--backlog', '100', '--error', '0.2', '--workers', '4');
    ask('run', 'merge-table-lock', $engine, @chunks, '--opt', 'form=published', sub {
        my ($json) = @_;
        is(verdict($json, 'no-duplicate'), 'held', "merge, published, $engine: no item is handed out twice");
        is(proof($json, 'chunks'), 'violated', "merge, published, $engine: a range whose agent fails is lost: at most once");
    });
    ask('run', 'merge-table-lock', $engine, @chunks, sub {
        is(proof($_[0], 'chunks'), 'held', "merge, repaired, $engine: it is done again");
    });

    my @kill = ('-S', 'drain', '--backlog', '100', '--workers', '3', '--processes', '3', '--hold', '10ms', '--fault', 'kill',
        '--fault-interval', '100ms', '--fault-count', '2', '--ttl', '300ms', '--recover', '100ms');
    # A verdict on stuck items is withheld if the machine stood still: the run is repeated.
    my @die = ('-S', 'steady', '--fault', 'kill', '--fault-interval', '100ms', '--fault-count', '2', '--duration', '1500ms', '--warmup', '0');
    my $is_lost = sub { my ($json) = @_; return has_dead($json) && verdict($json, 'no-loss') eq 'violated' };
    ask_until($is_lost, 'run', 'merge-table-lock', $engine, @die, '--opt', 'form=published', sub {
        my ($json) = @_;
        my $dead = first_run($json)->{measures};
        is(verdict($json, 'no-loss'), 'violated', "merge, published, $engine: what a dead agent had is lost");
        is($dead->{stuck}, $dead->{deaths}, "merge, published, $engine: ... and never handed out again");
        cmp_ok($dead->{deaths}, '<=', 3, "merge, published, $engine: ... which is what was in hand, and not what was done before");
    });
    ask('run', 'merge-table-lock', $engine, @kill, sub {
        my $dead = first_run($_[0])->{measures};
        is($dead->{stuck}, 0, "merge, repaired, $engine: what a dead agent had is freed by an operator's job");
    });
    ask('run', 'merge-table-lock', $engine, '-S', 'take-ten', sub {
        my ($json) = @_;
        is(first_run($json)->{items}, 1000, "Take(10) until empty, $engine: every item");
        is(verdict($json, $_), 'held', "Take(10) until empty, $engine: $_") for 'no-duplicate', 'no-loss', 'bounded-claim';
    });
}

# TABLOCK, which two may have at once, and TABLOCKX.
for my $mode (exists $uri{postgres} ? ('share', 'access-exclusive') : ()) {
    my $has_met = sub { return $mode ne 'share' || (first_run($_[0])->{operations}{acquire}{answers}{deadlock} // 0) > 0 };
    ask_until($has_met, 'run', 'merge-table-lock', 'postgres', '-S', 'drain', '--backlog', '100', '--opt', "lock_mode=$mode", sub {
        my ($json) = @_;
        my $n = first_run($json)->{operations}{acquire}{answers}{deadlock};
        cmp_ok($n, $mode eq 'share' ? '>' : '==', 0, "merge, lock_mode=$mode: deadlocks");
        is(verdict($json, 'no-duplicate'), 'held', "merge, lock_mode=$mode: and no item twice");
    });
}

# The question on checking out records: the gatekeeper.
for my $engine (grep { $_ ne 'sqlite' } @every) {
    ask('explore', 'gatekeeper-early', $engine, '--first', sub {
        is(explored_verdict($_[0], 'no-duplicate'), 'violated', "gatekeeper, published without its hints, $engine: claims twice");
    });
    for my $form ('commit', 'published') {
        ask('explore', 'gatekeeper', $engine, '--opt', "form=$form", sub {
            is(explored_verdict($_[0], 'no-duplicate'), 'held', "gatekeeper, form=$form, $engine: explored, claims once");
        });
    }
    my @ahead = ('-S', 'drain', '--locked-ahead', '20', '--backlog', '50');
    ask('run', 'gatekeeper', $engine, @ahead, '--opt', 'form=published', sub {
        is(first_run($_[0])->{operations}{acquire}{succeeded}, 30,
            "gatekeeper, published, $engine: its hints step over locked rows");
    });
    ask('run', 'gatekeeper', $engine, @ahead, '--duration', '700ms', sub {
        is(first_run($_[0])->{operations}{acquire}{succeeded}, 0,
            "gatekeeper, form=commit, $engine: waits at the first of them");
    });
}

# 1999, the task list.
for my $engine (@every) {
    ask('explore', 'nowait', $engine, '--opt', 'form=published', sub {
        is(explored_verdict($_[0], 'no-duplicate'), 'held', "task list, published, $engine: explored, claims once");
    });
    for my $form ('published', 'safe') {
        ask('run', 'nowait', $engine, '-S', 'task-list', '--opt', "form=$form", sub {
            my ($json) = @_;
            my $asked = first_run($json)->{operations}{acquire};
            cmp_ok($asked->{gave_up}, '<=', $asked->{given_up},
                "task list, $form, $engine: who gave up is among those without a task");
            is($asked->{succeeded}, 104, "task list, $form, $engine: every task is done");
            is(verdict($json, $_), 'held', "task list, $form, $engine: $_") for 'no-duplicate', 'no-loss', 'bounded-claim';
        });
    }
}

# Rows that another session has locked, and two tries: all give up, and that is counted.
for my $engine (grep { $_ ne 'sqlite' } @every) {
    my $has_given_up = sub { return (first_run($_[0])->{operations}{acquire}{gave_up} // 0) > 0 };
    ask_until($has_given_up, 'run', 'nowait', $engine, '-S', 'drain', '--locked-ahead', '20', '--backlog', '20', '--tries', '2', '--duration', '300ms',
        '--warmup', '0', '--no-drain', sub {
            my $asked = first_run($_[0])->{operations}{acquire};
            cmp_ok($asked->{gave_up}, '>', 0, "task list, $engine: rows that others have locked, and so all give up");
            is($asked->{answers}{busy} >= 2 * $asked->{gave_up} ? 1 : 0, 1, "task list, $engine: after two refusals each");
        });
}

# An error in the middle of a chunk: committed with the work so far, the chunk is applied twice in part.
for my $engine (@every) {
    my @chunks = ('-S', 'chunked-update', '--rows', '2000', '--backlog', '100', '--error', '0.2', '--workers', '4');
    for my $form ('published', 'safe') {
        ask('run', 'nowait', $engine, @chunks, '--opt', "form=$form", sub {
            is(proof($_[0], 'chunks'), 'held', "task list, $form, $engine: a chunk that was rolled back first is applied once");
        });
        ask('run', 'nowait', $engine, @chunks, '--opt', "form=$form", '--partial', sub {
            is(proof($_[0], 'chunks'), 'violated',
                "task list, $form, $engine: committed with its error, half of it is applied twice");
        });
    }
}

# 2009, the control table. What a poll reads decides: a snapshot lets two in, one writer does not, and a locking read
# only between the number and its row.
for my $engine (@every) {
    my $violated = $engine eq 'sqlite' ? 'held' : 'violated';
    ask('explore', 'fifo-poll', $engine, '--opt', 'form=published', sub {
        my ($json) = @_;
        is(explored_verdict($json, $_), $violated, "control table, published, $engine: explored, $_ is $violated")
            for 'exclusive', 'fifo';
    });
    next if $engine ne 'mariadb';
    for my $form ('published', 'extended') {
        ask('explore', 'fifo-poll', $engine, '--opt', "form=$form", '--opt', 'read=locking', sub {
            is(explored_verdict($_[0], $_), 'held', "control table, $form, $engine: with locking reads $_ holds, by whole statements")
                for 'exclusive', 'fifo';
        });
    }
    # Within the INSERT the number is drawn before its row is there.
    for my $guarantee ('exclusive', 'fifo') {
        ask('explore', 'fifo-poll', $engine, '--opt', 'form=parted', '--opt', 'read=locking', '--first',
            '--claims', $guarantee, sub {
            is(explored_verdict($_[0], $guarantee), 'violated', "control table, published, $engine: between number and row, $guarantee is violated");
        });
    }
}
ask_until(is_judged('exclusive'), 'run', 'fifo-poll', 'sqlite', '-S', 'control-table', '--hold', '50ms', '--poll', '10ms', '--poll-max', '10ms', '--think',
    '10ms', '--duration', '1s', sub {
        is(verdict($_[0], 'exclusive'), 'held', 'control table at its own pace, a hundred times faster: held');
    });

# Long enough for a death and its consequences on a machine that stands still now and then.
my @dead_holder = ('-S', 'dead-holder', '--duration', '3s');

# What a process calls itself: a number that the next one gets is the dead one's place in line, for better or worse.
for my $engine (@every) {
    my $has_gone_on = sub {
        my ($json) = @_;
        my $dead = first_run($json)->{measures};
        return has_dead($json) && $dead->{recovered} == $dead->{deaths} && verdict($json, 'fifo') eq 'violated';
    };
    ask_until($has_gone_on, 'run', 'fifo-poll', $engine, @dead_holder, '--ids', 'spid', sub {
        my ($json) = @_;
        my $dead = first_run($json)->{measures};
        is($dead->{recovered}, $dead->{deaths},
            "control table, ids=spid, $engine: the next one with that number inherits the place");
        is(verdict($json, 'fifo'), 'violated', "control table, ids=spid, $engine: and so goes before those who came earlier");
    });
    for my $ids ('guid', 'host') {
        ask_until(\&has_dead, 'run', 'fifo-poll', $engine, @dead_holder, '--ids', $ids, sub {
            my ($json) = @_;
            my $dead = first_run($json)->{measures};
            is("$dead->{recovered} of $dead->{deaths}", '0 of 1',
                "control table, ids=$ids, $engine: the dead one's row bars all others");
            # On other engines numbers may commit in another order than they were drawn, with any
            # ids.
            is(verdict($json, 'fifo'), 'held', "control table, ids=$ids, $engine: in order, until then") if $engine eq 'sqlite';
        });
    }
}

# 2012, job_status.
for my $engine (@every) {
    my @now = ('--opt', 'first_run=now');
    # On a machine that stands still the verdicts on progress and recovery are withheld. The figures are not.
    ask('run', 'lease-update', $engine, '-S', 'mutex-hot', '--duration', '400ms', '--warmup', '0', '--progress-bound', '300ms', sub {
        my ($json) = @_;
        is(first_run($json)->{operations}{acquire}{succeeded}, 0, "job_status, published, $engine: a due time of NULL is never due");
        like(verdict($json, 'progress'), qr/^(?:violated|not tested)$/, "job_status, published, $engine: progress");
    });
    # Whole seconds. A lease of 300 ms that is granted between the 0.3th and the 0.5th part of a second starts, when rounded,
    # at that second, and is over when it is granted: every run that sees two seconds sees two holders, however slow it is.
    my @hold = ('-S', 'mutex-hot', '--workers', '3', '--hold', '20ms', '--think', '1ms', '--poll', '5ms', '--poll-max', '5ms',
        '--progress-bound', '0', '--duration', '2500ms', '--warmup', '0', @now);
    for my $case ([second => '300ms', 'violated'], [ms => '2s', 'held']) {
        my ($times, $ttl, $wanted) = @$case;
        my $is_there = $wanted eq 'held' ? is_judged('exclusive') : sub { return verdict($_[0], 'exclusive') eq 'violated' };
        ask_until($is_there, 'run', 'lease-update', $engine, @hold, '--ttl', $ttl, '--opt', "times=$times", sub {
            is(verdict($_[0], 'exclusive'), $wanted, "job_status, times=$times, $engine: holds of 20 ms in leases of $ttl");
        });
    }
    for my $case ([yes => 'two columns for one', 'nobody takes over from the dead'], [no => 'one column', 'somebody does']) {
        my ($slip, $columns, $what) = @$case;
        my $is_there = sub { return has_dead($_[0]) && ($slip eq 'yes' || first_run($_[0])->{measures}{recovered} > 0) };
        ask_until($is_there, 'run', 'lease-update', $engine, @dead_holder, @now, '--opt', "slip=$slip", sub {
            my ($json) = @_;
            my ($dead, $told) = (first_run($json)->{measures}, verdict($json, 'recovery'));
            my $right = $dead->{deaths} > 0 && ($slip eq 'yes' ? $dead->{recovered} == 0 : $dead->{recovered} > 0);
            ok($right, "job_status, $columns, $engine: $what");
            like($told, $slip eq 'yes' ? qr/^(?:violated|not tested)$/ : qr/^(?:held|not tested)$/,
                "job_status, $columns, $engine: recovery");
        });
    }
    for my $name ('lease-update', 'lease-update-safe') {
        my $is_counted = sub { return proof($_[0], 'schedule') =~ /^(?:held|violated)$/ };
        ask_until($is_counted, 'run', $name, $engine, '-S', 'several-jobs', '--duration', '2s', $name eq 'lease-update' ? @now : (), sub {
            is(proof($_[0], 'schedule'), 'held', "job_status, $name, $engine: several jobs, one run of each in each period");
        });
    }
}

# The question on checking out records: UPDATE TOP (1) without an order, where there is such a statement.
if (exists $uri{mariadb}) {
    ask('explore', 'skip-locked', 'mariadb', '--opt', 'form=update', sub {
        is(explored_verdict($_[0], 'no-duplicate'), 'held', 'UPDATE TOP (1), mariadb: explored, claims once');
    });
    ask('run', 'skip-locked', 'mariadb', '-S', 'drain', '--opt', 'form=update', sub {
        is(verdict($_[0], $_), 'held', "UPDATE TOP (1), mariadb: $_") for 'no-duplicate', 'no-loss', 'bounded-claim';
    });
}

answer();
done_testing();
