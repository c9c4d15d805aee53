#!/usr/bin/env perl
# Faults: each is carried out where it was placed, and each strategy shows what it does then. On
# SQLite always, on the servers in LB_TEST_URIS as far as they are there. On PostgreSQL the runs have
# a database of their own, so that their remains can be distinguished from others' objects.
#
# Nothing here may depend on how quick the machine is. Runs end with their faults or with a number of
# operations, not by time; broken strategies have enough occasions to show it that a worker which is
# not run for some seconds does not matter; and where no worker may be late, a lease is many seconds
# long: those runs begin first and are looked at last.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use POSIX ();
use Test::More;
use Time::HiRes 'sleep';

my $database;
my $owner;
my %engine = engine_uris();

# Rows of one statement, by PostgreSQL's own client.
sub sql
{
    my ($uri, $text) = @_;
    open my $pipe, '-|', 'psql', '-XAtq', '-c', $text, $uri or return;
    my @rows = <$pipe>;
    close $pipe or return;
    chomp @rows;
    return @rows;
}

if (defined $engine{postgres}) {
    ($owner, my ($uri, $name)) = ($engine{postgres}, own_database($engine{postgres}));
    ($engine{postgres}, $database) = ($uri, $name) if defined $uri;
}

# Starts a run as the leader of a session, by which all of its processes are found again.
sub begin
{
    my ($name, $engine, @args) = @_;
    my $out = scratch() . '/run.' . ("$engine $name" =~ s/\W+/-/gr);
    my $pid = fork() // die "fork: $!\n";
    if ($pid == 0) {
        POSIX::setsid();
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', "$out.json" or POSIX::_exit(99);
        open STDERR, '>', "$out.err" or POSIX::_exit(99);
        exec $ENV{LOCKBENCH}, 'run', '-d', $engine{$engine}, '--format', 'json', '--quiet',
            '--warmup', '0', '--seed', $ENV{LB_TEST_SEED} // 1, @args
            or POSIX::_exit(99);
    }
    return { pid => $pid, name => "$engine: $name", out => $out };
}

# Waits for it. Checks the conditions of every run; returns its only cell's guarantees and its only
# run.
sub end
{
    my ($run, $want_status) = @_;
    waitpid $run->{pid}, 0;
    my $status = $? & 127 ? 128 + ($? & 127) : $? >> 8;
    my @left = `pgrep -s $run->{pid}`;
    my $err = slurp("$run->{out}.err");
    is($status, $want_status, "$run->{name}: exit status") or diag $err;
    is_deeply(\@left, [], "$run->{name}: no process is left");
    my $json = eval { decode_json(slurp("$run->{out}.json")) };
    ok(defined $json, "$run->{name}: JSON") or do { diag $err; return ({}, { measures => {}, live_witness => {} }) };
    my $cell = $json->{cells}[0];
    my $one = $cell->{runs}[0] // { measures => {}, live_witness => {} };
    is($one->{state}, 'complete', "$run->{name}: complete");
    ok($one->{live_witness}{agrees_with_history}, "$run->{name}: the witnesses agree with the history");
    return ($cell->{guarantees}, $one);
}

# A bound on time is not judged where the machine stood still for much of the run: then that is said.
sub is_recovered
{
    my ($guarantees, $name) = @_;
    my $finding = $guarantees->{recovery} // {};
    return note("$name: $finding->{reason}") if ($finding->{reason} // '') =~ /^all workers stood still for |some worker was not run/;
    return is($finding->{verdict}, 'held', "$name: recovery");
}

sub verdict { my ($guarantees, $name) = @_; return $guarantees->{$name}{verdict} // 'absent' }

my @lease = ('-s', 'lease-update-safe', '--ttl', '100ms', '--workers', '4', '--hold', '5ms', '--poll', '5ms', '--backoff', 'fixed');
my @article = ('-s', 'lease-update', '--opt', 'first_run=now', @lease[2 .. $#lease]);
my @session = ('-s', 'advisory-session', '--workers', '4', '--hold', '2ms');
my $zombie = '20'; # pauses, each of which has to show it
my $long = '15s';  # a lease that no stall outlasts
my @faults = ('--duration', '0', '--fault-count');

sub has
{
    my ($strategy, $engine) = @_;
    return -e "$FindBin::Bin/../../sql/$strategy/$engine.sql";
}

# Begins the runs that take as long as their leases.
sub begin_slow
{
    my ($engine) = @_;
    my %slow;
    # The owner of a released lock is certain only up to the first double hold, so one zombie must
    # do. Its successor waits for it, and must not outlive its own lease. Holds are long, so that a
    # worker has the lock when the zombie gives it back.
    $slow{unowned} = begin('one zombie, as published', $engine, @article, '--ttl', $long, '--hold', '2s', '--fault', 'pause',
        '--fault-length', '18s', '--fault-interval', '200ms', @faults, 1, '--guard', '--progress-bound', '0');
    $slow{renewal} = begin('renewal', $engine, @lease, '--ttl', $long, '--workers', '2', '--count', '1', '--duration', '0',
        '--hold', '15200ms', '--progress-bound', '0', '--renew', '25ms');
    # Two hold the lock once, soon after the beginning, and only if the first one was not the worker with the clock ahead,
    # which keeps the others out from then on: five short runs, of which one has to show it.
    $slow{skew} = begin('skew, clock of the client', $engine, @article, '--ttl', '500ms', '--skew', '1s', '--workers', '4',
        '--duration', '3s', '--repeat', '5', '--hold', '80ms', '--think', '1ms', '--progress-bound', '0');
    $slow{no_skew} = begin('skew, clock of the server', $engine, @lease, '--ttl', '10s', '--skew', '20s', '--workers', '4',
        '--count', '8', '--duration', '0', '--hold', '20ms', '--think', '1ms', '--progress-bound', '0');
    $slow{safe} = begin('blocker, clock after it', $engine, '-s', 'lease-update-safe', '-S', 'blocker', '--ttl', '8s',
        '--fault-length', '17s', @faults, 1, '--progress-bound', '0')
        if $engine eq 'postgres';
    return \%slow;
}

# All runs on an engine.
sub check_engine
{
    my ($engine) = @_;
    my ($guarantees, $run);
    my $is_server = $engine ne 'sqlite';
    note "engine $engine";
    my %has = map { $_ => 1 } grep { has($_, $engine) }
        qw(advisory-session lease-update lease-update-safe skip-locked);

    my $slow = $has{'lease-update-safe'} ? begin_slow($engine) : undef;

    # --- the dead: the slowest runs go side by side ---
    my %runs;
    if ($has{'lease-update-safe'}) {
        my @pause = ('--fault', 'pause', '--fault-interval', '250ms', '--fault-length', '200ms', '--fault-count', $zombie,
            '--ttl', '150ms', '--duration', '0', '--progress-bound', '0', '--guard');
        $runs{pause} = begin('pause', $engine, @lease, @pause);
        $runs{harm} = begin('pause, as published', $engine, @article, @pause);
        $runs{version} = begin('pause, no clock', $engine, '-s', 'lease-version', @lease[2 .. $#lease], @pause);
        # Of different items: these pauses need not end before the next begins.
        my @queue = ('-S', 'steady', '--put-interval', '100ms', @pause[0 .. $#pause - 1], '--workers', '8',
            '--fault-length', '450ms', '--ttl', '400ms');
        $runs{queue} = begin('pause, queue', $engine, '-s', 'lease-queue', @queue);
        $runs{by_id} = begin('pause, by id', $engine, '-s', 'complete-by-id', @queue);
        $runs{kill} = begin('kill, lease', $engine, @lease, '--ttl', '500ms', '--fault', 'kill', '--fault-interval', '150ms',
            @faults, 5, '--recovery-bound', '10m', '--progress-bound', '0');
    }
    $runs{session} = begin('kill, session lock', $engine, @session, '--fault', 'kill', '--fault-interval', '100ms',
        @faults, 5, '--recovery-bound', '10m', '--progress-bound', '0')
        if $has{'advisory-session'};

    if ($runs{kill}) {
        ($guarantees, $run) = end($runs{kill}, 0);
        is($run->{faults}, 5, "$engine: kill, lease: there were faults");
        is($run->{measures}{deaths}, $run->{faults}, "$engine: kill, lease: each is a death inside a hold");
        cmp_ok($run->{measures}{recovered}, '>=', $run->{measures}{deaths} - 1,
            "$engine: kill, lease: the lock is granted again");
        cmp_ok($run->{measures}{recovery_max_ns}, '>', 50e6, "$engine: kill, lease: not before the lease is over");
        is(verdict($guarantees, $_), 'held', "$engine: kill, lease: $_") for qw(exclusive fenced owner-release);
        is_recovered($guarantees, "$engine: kill, lease");
    }
    if ($runs{session}) {
        ($guarantees, $run) = end($runs{session}, 0);
        is($run->{faults}, 5, "$engine: kill, session lock: there were faults");
        is($run->{measures}{deaths}, $run->{faults}, "$engine: kill, session lock: each is a death inside a hold");
        cmp_ok($run->{measures}{recovered}, '>=', $run->{measures}{deaths} - 1,
            "$engine: kill, session lock: the lock is granted again");
        is(verdict($guarantees, 'exclusive'), 'held', "$engine: kill, session lock: exclusive");
        is_recovered($guarantees, "$engine: kill, session lock");
    }

    # --- the zombie: in each of the pauses, because it is placed ---
    if ($runs{pause}) {
        ($guarantees, $run) = end($runs{pause}, 0);
        is($run->{faults}, $zombie, "$engine: pause: all were placed");
        cmp_ok($run->{measures}{stale_writes_refused}, '>=', $zombie, "$engine: pause: each stale write was refused");
        is($run->{measures}{stale_writes_accepted}, 0, "$engine: pause: none was accepted");
        is($run->{guard_lost_updates}, 0, "$engine: pause: nobody's write was lost");
        is(verdict($guarantees, $_), 'held', "$engine: pause: $_") for qw(exclusive fenced owner-release);
        cmp_ok($run->{measures}{lease_overlaps_uncut}, '>=', $zombie, "$engine: pause: what the zombie believed");
    }
    if ($runs{version}) {
        ($guarantees, $run) = end($runs{version}, 0);
        is($run->{faults}, $zombie, "$engine: pause, no clock: all were placed");
        cmp_ok($run->{measures}{stale_writes_refused}, '>=', $zombie, "$engine: pause, no clock: each stale write was refused");
        is($run->{measures}{stale_writes_accepted}, 0, "$engine: pause, no clock: none was accepted");
        is(verdict($guarantees, 'fenced'), 'held', "$engine: pause, no clock: fenced");
    }
    if ($runs{queue}) {
        ($guarantees, $run) = end($runs{queue}, 0);
        is($run->{faults}, $zombie, "$engine: pause, queue: all were placed");
        is(verdict($guarantees, $_), 'held', "$engine: pause, queue: $_") for qw(owner-release no-loss);
        cmp_ok($run->{operations}{release}{answers}{refused}, '>=', $zombie, "$engine: pause, queue: each zombie was refused");
        ($guarantees, $run) = end($runs{by_id}, 1);
        is($run->{faults}, $zombie, "$engine: pause, by id: all were placed");
        is(verdict($guarantees, 'owner-release'), 'violated', "$engine: pause, by id: owner-release");
        cmp_ok($run->{operations}{release}{answers}{refused}, '>=', $zombie,
            "$engine: pause, by id: each completed another's claim, who then was refused");
    }
    if ($runs{harm}) {
        ($guarantees, $run) = end($runs{harm}, 1);
        is($run->{faults}, $zombie, "$engine: pause, as published: all were placed");
        cmp_ok($run->{guard_lost_updates}, '>=', $zombie, "$engine: pause, as published: each lost somebody's write");
    }

    # --- queues ---
    if ($has{'skip-locked'}) {
        ($guarantees, $run) = end(begin('kill, queue', $engine, '-s', 'skip-locked', '-S', 'steady',
            '--put-interval', '20ms', '--fault', 'kill', '--fault-interval', '500ms', @faults, 5), 1);
        is($run->{faults}, 5, "$engine: kill, queue: there were faults");
        is(verdict($guarantees, $_), 'held', "$engine: kill, queue: $_") for qw(no-duplicate bounded-claim);
        is(verdict($guarantees, 'no-loss'), 'violated', "$engine: kill, queue: what is stuck is lost");
        is($run->{measures}{deaths}, $run->{faults}, "$engine: kill, queue: each died with an item");
        is($run->{measures}{stuck}, $run->{measures}{deaths}, "$engine: kill, queue: whom nobody recovers is stuck");
        ($guarantees, $run) = end(begin('kill, recovered queue', $engine, '-s', 'skip-locked', '-S', 'steady',
            '--put-interval', '20ms', '--fault', 'kill', '--fault-interval', '150ms', @faults, 5,
            '--recover', '100ms', '--ttl', '1s'), 0);
        is($run->{measures}{deaths}, 5, "$engine: kill, recovered queue: all died with an item");
        is(verdict($guarantees, $_), 'held', "$engine: kill, recovered queue: $_") for qw(no-duplicate no-loss);
        is($run->{measures}{recovered}, $run->{measures}{deaths}, "$engine: kill, recovered queue: all are");
        is($run->{measures}{stuck}, 0, "$engine: kill, recovered queue: none is stuck");
        cmp_ok($run->{measures}{recovery_max_ns}, '>=', 350e6, "$engine: kill, recovered queue: not before the timeout");
        # Slow and dead workers cannot be distinguished: the item of a longer sleeper goes to
        # another.
        ($guarantees, $run) = end(begin('pause, recovered queue', $engine, '-s', 'skip-locked', '-S', 'steady',
            '--put-interval', '20ms', '--fault', 'pause', '--fault-interval', '100ms', '--fault-length', '300ms',
            '--fault-count', 2, '--duration', '0', '--recover', '20ms', '--ttl', '200ms'), 0);
        is($run->{faults}, 2, "$engine: pause, recovered queue: all were placed");
        cmp_ok($run->{live_witness}{overlaps}, '>=', 2, "$engine: pause, recovered queue: two had each item");
        is(verdict($guarantees, $_), 'held', "$engine: pause, recovered queue: $_") for qw(no-duplicate no-loss);
        # Consumers slower than the interval of the recoveries, as on a machine that has no time for them.
        ($guarantees) = end(begin('recovered all the time', $engine, '-s', 'skip-locked', '-S', 'drain',
            '--backlog', '40', '--duration', '0', '--recover', '1us', '--ttl', '10m'), 0);
        is(verdict($guarantees, 'no-loss'), 'held', "$engine: recovered all the time: the queue is drained all the same");
    }

    # --- connections ---
    for my $fault ($is_server ? qw(disconnect cut) : ()) {
        next if !$has{'advisory-session'};
        ($guarantees, $run) = end(begin("$fault", $engine, @session, '--progress-bound', '0', '--fault', $fault,
            '--fault-interval', '80ms', @faults, 6), 0);
        is($run->{faults}, 6, "$engine: $fault: there were faults");
        # At the end one may be on its way.
        cmp_ok($run->{connections_lost}, '>=', 5, "$engine: $fault: each was noticed");
        cmp_ok($run->{connects}, '>', 4, "$engine: $fault: and connected again");
        is(verdict($guarantees, 'exclusive'), 'held', "$engine: $fault: exclusive, where the session's end ends the hold");
        next if !$has{'skip-locked'};
        ($guarantees, $run) = end(begin("$fault, queue", $engine, '-s', 'skip-locked', '-S', 'steady', '--fault', $fault,
            '--fault-interval', '80ms', @faults, 6), 0);
        cmp_ok($run->{connections_lost}, '>=', 3, "$engine: $fault, queue: was noticed");
        is(verdict($guarantees, $_), 'held', "$engine: $fault, queue: $_") for qw(no-duplicate no-loss);
    }

    # --- the world ---
    if ($engine eq 'sqlite') {
        ($guarantees, $run) = end(begin('full', $engine, '-s', 'skip-locked', '-S', 'steady', '--payload', '2k', '--fault',
            'full', '--fault-interval', '100ms', '--fault-length', '300ms', @faults, 5), 0);
        is($run->{faults}, 5, "$engine: full: there were faults");
        cmp_ok($run->{operations}{put}{answers}{other} // 0, '>', 0, "$engine: full: puts were refused");
        is(verdict($guarantees, $_), 'held', "$engine: full: $_") for qw(no-duplicate no-loss);
    }
    if ($has{'lease-update-safe'}) {
        # Each statement waits for as long; the longest one tells.
        my @slow = (@lease, '--workers', '1', '--fault', 'slow', '--fault-interval', '50ms', '--fault-length', '700ms', @faults, 2);
        ($guarantees, $run) = end(begin('slow', $engine, @slow), 0);
        my ($longest) = sort { $b <=> $a } map { $run->{operations}{$_}{service}{max_ns} // 0 } qw(acquire release);
        cmp_ok($longest, '>=', 700e6, "$engine: slow: it is");
        is(verdict($guarantees, 'exclusive'), 'held', "$engine: slow: exclusive");

        (undef, $run) = end(begin('no renewal', $engine, @lease, '--ttl', '300ms', '--workers', '6', '--count', '2', '--duration', '0',
            '--hold', '700ms', '--progress-bound', '0'), 0);
        cmp_ok($run->{measures}{lease_overlaps_uncut}, '>', 0, "$engine: a hold beyond its lease: two believe");
    }
    if ($engine eq 'postgres') {
        my @blocker = ('--progress-bound', '0', '--fault', 'blocker', '--fault-interval', '100ms', '--fault-length', '250ms');
        ($guarantees) = end(begin('blocker, as published', $engine, @article, @blocker, @faults, 8), 1);
        is(verdict($guarantees, 'exclusive'), 'violated', "$engine: blocker: a lease computed before the wait is over when granted");
        ($guarantees, $run) = end(begin('blocker', $engine, @lease, @blocker, @faults, 3), 0);
        is($run->{faults}, 3, "$engine: blocker: there were faults");
        (undef, my $now) = end(begin('blocker, now()', $engine, '-s', 'lease-now', '-S', 'blocker', '--ttl', '200ms',
            '--fault-length', '500ms', @faults, 5), 1);
        cmp_ok($now->{measures}{lease_overlaps_uncut}, '>', 0, "$engine: blocker: granted when it was over, two believe");
        is(verdict($guarantees, 'exclusive'), 'held', "$engine: blocker: the repaired twin reads the clock after it");
    }

    # --- the runs with long leases ---
    if ($slow) {
        ($guarantees, $run) = end($slow->{unowned}, 1);
        is($run->{faults}, 1, "$engine: one zombie, as published: it was placed");
        is(verdict($guarantees, 'owner-release'), 'violated', "$engine: one zombie, as published: owner-release");
        ($guarantees, $run) = end($slow->{renewal}, 0);
        is($run->{measures}{holds}, 2, "$engine: renewed in time: each had it");
        is($run->{measures}{lease_overlaps_uncut}, 0, "$engine: renewed in time: one does");
        is(verdict($guarantees, 'exclusive'), 'held', "$engine: renewed: exclusive");
        ($guarantees) = end($slow->{skew}, 1);
        is(verdict($guarantees, 'exclusive'), 'violated', "$engine: skew of two leases: the client's clock gives two holders");
        ($guarantees, $run) = end($slow->{no_skew}, 0);
        is(verdict($guarantees, 'exclusive'), 'held', "$engine: skew of two leases: the server's clock does not");
        is($run->{measures}{lease_overlaps_uncut}, 0, "$engine: skew of two leases: nor in anybody's belief");
        if ($slow->{safe}) {
            (undef, my $safe) = end($slow->{safe}, 0);
            is($safe->{faults}, 1, "$engine: blocker: there was one, longer than two leases");
            is($safe->{measures}{lease_overlaps_uncut}, 0, "$engine: blocker: the repaired twin's lease is worth its length");
        }
    }
    SKIP: {
        skip 'no database of its own', 2 if $engine ne 'postgres' || !defined $database;
        is_deeply([sql($engine{postgres}, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'lockbench%'")], [],
            "$engine: nothing is left in the database");
        is_deeply([sql($engine{postgres}, "SELECT application_name FROM pg_stat_activity WHERE datname = '$database'"
            . " AND pid <> pg_backend_pid() AND backend_type = 'client backend'")], [], "$engine: no session is left");
    }
    is_deeply([grep { !/\.(?:json|err)$/ } glob(scratch() . '/*')], [], 'sqlite: no file is left') if $engine eq 'sqlite';
}

sub check_commands
{
    # Meaningless options are refused before anything is made.
    my ($status, undef, $err) = lockbench('run', '-s', 'lease-update-safe', '-d', 'sqlite:', '--fault', 'disconnect', '--quiet');
    isnt($status, 0, 'disconnect on SQLite: refused');
    like($err, qr/^lockbench: .*fault disconnect has no meaning on SQLite/m, 'disconnect on SQLite: says why');

    # verify --faults: a line for each strategy, engine, fault and guarantee.
    my $verify;
    ($status, $verify, $err) = lockbench('verify', '-s', 'lease-update-safe,lease-update', '-d', 'sqlite:', '--faults',
        'kill,skew,disconnect', '--duration', '8s', '--recovery-bound', '10m', '--progress-bound', '0', '--quiet');
    is($status, 0, 'verify --faults: all as claimed') or diag $verify, $err;
    like($verify, qr/^ok \d+ - lease-update-safe sqlite mutex-hot\+kill $_$/m, "verify --faults: kill $_")
        for qw(exclusive fenced owner-release);
    like($verify, qr/^ok \d+ - lease-update-safe sqlite mutex-hot\+kill recovery(?: # SKIP [^\n]*stood still[^\n]*)?$/m,
        'verify --faults: kill recovery');
    like($verify, qr/^ok \d+ - lease-update-safe sqlite mutex-hot\+skew exclusive$/m, 'verify --faults: skew');
    like($verify, qr/^ok \d+ - lease-update-safe sqlite mutex-hot\+disconnect all # SKIP fault disconnect has no meaning/m,
        'verify --faults: what an engine cannot do');
    like($verify, qr/lease-update\[first_run=now\] sqlite mutex-hot\+skew exclusive\n[^\n]*\n  meaning: "known to be broken, and caught"/,
        'verify --faults: the clock of the client is caught');
    like($verify, qr/^# strategy +engine +scenario +deaths +recovered +median +p95 +longest +leases +lost +stuck +doubled +by hand$/m,
        'verify --faults: what deaths cost, below the plan');
    like($verify, qr/^# lease-update-safe +sqlite +mutex-hot\+kill +([1-9]\d*) .* nothing$/m, 'verify --faults: of the lease');
    my $matrix;
    ($status, $matrix, $err) = lockbench('verify', '--matrix', '-s', 'lease-update-safe', '-d', 'sqlite:', '--faults',
        'skew,disconnect', '--duration', '8s', '--progress-bound', '0', '--quiet');
    is($status, 0, 'verify --matrix --faults: all as claimed') or diag $matrix, $err;
    like($matrix, qr/^\| strategy \|[^\n]*, disconnect \|[^\n]*, skew \|\n[^\n]*\n\| `lease-update-safe` \| SKIP \[1\] \| held \|$/m,
        'verify --matrix --faults: a column for each');
    ($status, undef, $err) = lockbench('verify', '--faults', 'kil');
    is($status, 2, 'verify --faults: an unknown fault');
    like($err, qr/unknown fault 'kil'.*did you mean.*kill/, 'verify --faults: what was meant') or diag $err;

    # A fault that never happened has no verdict, and in verify's tests the work lasts for some of them.
    {
        my ($status, $out, $err) = lockbench('run', '-s', 'skip-locked', '-S', 'drain', '-d', 'sqlite:', '--backlog', 20, '--fault', 'pause',
            '--fault-interval', '1h', '--duration', '10m', '--progress-bound', '10m', '--quiet', '--format', 'json');
        my $cell = eval { decode_json($out)->{cells}[0] } // {};
        is($status, 5, 'no fault: exit status') or diag $err;
        is($cell->{verdict}, 'inconclusive', 'no fault: nothing is held');
        like($cell->{runs}[0]{reason} // '', qr/^no fault happened: the run was over after .*, and the fault pause was to come every 3600 s; make it longer/, 'no fault: why');

        (undef, $out) = lockbench('verify', '-s', 'skip-locked', '-S', 'drain', '-d', 'sqlite:', '--faults', 'pause,disconnect,cut,slow,blocker,snapshot,full,failover,partition',
            '--quiet', '--format', 'json');
        my @cells = @{ (eval { decode_json($out) } // {})->{cells} // [] };
        is(scalar @cells, 9, 'verify under faults: all are asked, or said to be skipped');
        for my $config (map { $_->{config} } @cells) {
            cmp_ok($config->{backlog} * $config->{hold_ns} / $config->{workers}, '>', 2 * $config->{fault_interval_ns}, "verify under $config->{fault}: work for two of them");
        }
    }
}

side_by_side(sub { $_[0] eq 'commands' ? check_commands() : check_engine($_[0]) }, sort(keys %engine), 'commands');
done_testing();
