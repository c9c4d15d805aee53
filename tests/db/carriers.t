#!/usr/bin/env perl
# Many sessions per thread on PostgreSQL: a session that waits for another one of its own thread
# gets its lock, broken strategies are still caught, lost connections are made anew, and neither
# Ctrl-C nor a server that dies finds a thread that does not listen.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;
use Time::HiRes 'sleep';

own_servers('--fast', 'pgbouncer');
my $status = join "\n", servers('status');
my ($direct) = $status =~ /\tpostgres\t[^\t]*\t(postgresql:[^\t]*)/;
my ($pooled) = $status =~ /\tpgbouncer\t[^\t]*\t(postgresql:[^\t]*)/;

# Runs end with a number of operations: a machine that runs none of them for some seconds changes nothing.
sub begin
{
    my ($uri, @args) = @_;
    return start('run', '-d', $uri, '--warmup', '0', '--quiet', '--format', 'json', '--progress-bound', '10m', @args);
}

# The exit status, the only cell's guarantees and its only run.
sub judge
{
    my ($name, $want_status, $run) = @_;
    my ($got, $out, $err) = finish($run);
    is($got, $want_status, "$name: exit status") or diag $err;
    my $json = eval { decode_json($out) } // {};
    my $cell = $json->{cells}[0] // {};
    return ($cell->{guarantees} // {}, $cell->{runs}[0] // {});
}
sub measure { my ($name, $want_status, @run) = @_; return judge($name, $want_status, begin(@run)) }
sub verdict { my ($guarantees, $name) = @_; return $guarantees->{$name}{verdict} // 'none' }

# Items put meanwhile are claimed until a time is over: long enough that no stall takes all of it,
# and beside the others.
my $notified = begin($direct, '-s', 'listen-notify', '-S', 'steady', '--workers', 8, '--threads', 1, '--put-interval', '50ms',
    '--duration', '10s');

# One thread: a session that waits for the row waits for one of the same thread.
my ($guarantees, $run) = measure('row-lock', 0, $direct, '-s', 'row-lock', '-S', 'mutex-hot', '--workers', 12,
    '--threads', 1, '--hold', '1ms', '--count', 5, '--duration', 0);
is($run->{threads}, 1, 'row-lock: one thread');
is(verdict($guarantees, 'exclusive'), 'held', 'row-lock: exclusive');
is($run->{successes_all}, 60, 'row-lock: the lock goes round');
is(scalar(grep { $_ == 5 } @{$run->{worker_successes}}), 12, 'row-lock: and each worker has had it');

# With transactions that stand open while others of the thread go on, on purpose.
($guarantees, $run) = measure('skip-locked-hold', 0, $direct, '-s', 'skip-locked-hold', '-S', 'drain', '--workers', 12,
    '--threads', 2, '--backlog', 300, '--tx-pause', '1ms', '--duration', 0);
is(verdict($guarantees, $_), 'held', "skip-locked-hold: $_") for qw(no-duplicate no-loss);

# Broken strategies are caught. Between its look and its write a session waits for the network, and
# the thread goes on with the others: all twelve look before the first has written.
($guarantees) = measure('read-then-write', 1, $direct, '-s', 'read-then-write', '-S', 'mutex-hot', '--workers', 12,
    '--threads', 1, '--count', 20, '--duration', 0);
is(verdict($guarantees, 'exclusive'), 'violated', 'read-then-write: exclusive');

($guarantees, $run) = measure('pooler', 0, $pooled, '-s', 'skip-locked', '-S', 'drain', '--workers', 12, '--threads',
    2, '--backlog', 300, '--duration', 0);
is($run->{threads}, 2, 'pooler: two threads');
is(verdict($guarantees, $_), 'held', "pooler: $_") for qw(no-duplicate no-loss);

# The number of threads of each run.
(undef, $run) = measure('by default', 0, $direct, '-s', 'row-lock', '-S', 'mutex-spread', '--workers', 8,
    '--count', 5, '--duration', 0);
cmp_ok($run->{threads}, '<', 8, 'by default: fewer threads than workers');
(undef, $run) = measure('few workers', 0, $direct, '-s', 'row-lock', '-S', 'mutex-spread', '--workers', 3, '--count', 5,
    '--duration', 0);
is($run->{threads}, 3, 'few workers: a thread each');
my (undef, undef, $err) = lockbench('run', '-s', 'row-lock', '-d', $direct, '--workers', 4, '--threads', 5);
like($err, qr/threads: at most one per worker/, 'more threads than workers');
(undef, undef, $err) = lockbench('run', '-s', 'row-lock', '-d', $direct, '--threads', 2, '--fault', 'pause');
like($err, qr/threads: a fault stops its victim's thread/, 'threads and a fault');
(undef, undef, $err) = lockbench('run', '-s', 'lock-row', '-d', 'sqlite:', '--threads', 2);
like($err, qr/threads: a call to SQLite blocks its thread/, 'threads on SQLite');

($guarantees, $run) = judge('listen-notify', 0, $notified);
is(verdict($guarantees, $_), 'held', "listen-notify: $_") for qw(no-duplicate no-loss);

# The number of sessions that wait for a lock or stand in a transaction, as the server sees it.
sub busy
{
    return (sql(q{SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'lockbench worker%' AND state <> 'idle'}))[0];
}

# Waits for an event for as long as any machine may take.
sub until_is
{
    my ($event) = @_;
    for (1 .. 6000) {
        return 1 if $event->();
        sleep 0.05;
    }
    return 0;
}
sub until_busy { return until_is(sub { busy() >= 8 }) }

# Sends SIGINT, and waits until the process has taken it: two that are pending are one.
sub interrupt
{
    my ($pid) = @_;
    kill 'INT', $pid;
    return until_is(sub { my ($pending) = slurp("/proc/$pid/status") =~ /^ShdPnd:\s*(\w+)/m; !defined $pending || !(hex($pending) & 2) });
}

# Sessions that the server ends, as an operator would, in the middle of a lease: each worker connects
# again, in its fiber.
my $stopped = start('run', '-s', 'lease-update-safe', '-d', $direct, '-S', 'mutex-hot', '--workers', 8, '--threads', 1,
    '--ttl', '50ms', '--hold', '2ms', '--warmup', '0', '--duration', '10m', '--quiet', '--format', 'json', '--progress-bound', '10m');
# Rows of one statement; none while the tables are not there.
sub sql { my ($text) = @_; my @rows = `psql -XAtq -c "$text" '$direct' 2>/dev/null`; chomp @rows; return @rows }
# The lease's number, which grows with each grant.
sub fence
{
    my ($schema) = sql(q{SELECT nspname FROM pg_namespace WHERE nspname LIKE 'lockbench_lease%'});
    my ($fence) = defined $schema ? sql("SELECT max(fence) FROM $schema.job_status") : ();
    return $fence || 0;
}
my $workers = q{FROM pg_stat_activity WHERE application_name LIKE 'lockbench worker%'};
ok(until_is(sub { fence() > 5 }), 'sessions ended: the lease goes round before');
my @old = map { /^(\d+)\|t$/ ? $1 : () } sql("SELECT pid, pg_terminate_backend(pid) $workers");
cmp_ok(scalar(@old), '>=', 8, 'sessions ended: all of them'); # and what the pooler keeps
ok(until_is(sub { (sql("SELECT count(*) $workers AND NOT pid = ANY ('{" . join(',', @old) . "}')"))[0] >= 8 }),
    'sessions ended: each connects again');
my $fence = fence();
ok(until_is(sub { fence() > $fence + 5 }), 'sessions ended: and the lease goes round after');
kill 'INT', $stopped->{pid};
my ($got, $out);
($got, $out, $err) = finish($stopped);
is($got, 130, 'sessions ended: exit status') or diag $err;
my $cell = eval { decode_json($out)->{cells}[0] } // {};
cmp_ok($cell->{runs}[0]{connections_lost} // 0, '>=', 8, 'sessions ended: connections were lost');
is(verdict($cell->{guarantees} // {}, 'exclusive'), 'held', 'sessions ended: exclusive') or diag explain $cell->{guarantees}{exclusive};

# One holds the lock for ten minutes and seven wait for it in the server.
$stopped = start('run', '-s', 'row-lock', '-d', $direct, '-S', 'mutex-hot', '--workers', 8, '--threads', 1, '--hold',
    '10m', '--warmup', '0', '--duration', '10m');
ok(until_busy(), 'Ctrl-C: all but one wait');
interrupt($stopped->{pid});
interrupt($stopped->{pid});
my $begin = time;
($got, $out, $err) = finish($stopped);
is($got, 130, 'Ctrl-C twice: exit status') or diag $err;
cmp_ok(time - $begin, '<', 300, 'Ctrl-C twice: it did not wait for the hold');
like($out, qr/^row-lock +postgres /m, 'Ctrl-C twice: it still reports');

# The server dies while they wait.
$stopped = start('run', '-s', 'row-lock', '-d', $direct, '-S', 'mutex-hot', '--workers', 8, '--threads', 1, '--hold',
    '20ms', '--warmup', '0', '--duration', '10m');
ok(until_busy(), 'server gone: it runs');
servers('stop');
($got, $out, $err) = finish($stopped);
is($got, 3, 'server gone: exit status') or diag $out, $err;
like($out, qr/^row-lock +postgres +inconclusive/m, 'server gone: what was measured is reported');
done_testing();
