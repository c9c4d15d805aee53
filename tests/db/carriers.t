#!/usr/bin/env perl
# Many sessions per thread on PostgreSQL: a session that waits for another one of its own thread gets
# what it waits for, broken strategies are still caught, lost connections are made anew, and neither
# Ctrl-C nor a server that dies finds a thread that does not listen.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;
use Time::HiRes 'sleep';

my $servers = ($ENV{LB_SOURCE} // '.') . '/scripts/servers';
my $dir = scratch() . '/servers';
mkdir $dir;
my $started = `$servers start --fast --dir $dir pgbouncer 2>$dir.log`;
plan skip_all => 'no PostgreSQL with PgBouncer could be started: ' . slurp("$dir.log") =~ s/\n/ /gr if $? != 0;
END { local $?; system "$servers stop --dir $dir >/dev/null 2>&1" if defined $dir }
my $status = `$servers status --dir $dir`;
my ($direct) = $status =~ /\tpostgres\t[^\t]*\t(postgresql:[^\t]*)/;
my ($pooled) = $status =~ /\tpgbouncer\t[^\t]*\t(postgresql:[^\t]*)/;

# The exit status, the only cell's guarantees and its only run.
sub measure
{
    my ($name, $want_status, $uri, @args) = @_;
    my ($got, $out, $err) = lockbench('run', '-d', $uri, '--warmup', '0', '--quiet', '--format', 'json', @args);
    is($got, $want_status, "$name: exit status") or diag $err;
    my $json = eval { decode_json($out) } // {};
    my $cell = $json->{cells}[0] // {};
    return ($cell->{guarantees} // {}, $cell->{runs}[0] // {});
}
sub verdict { my ($guarantees, $name) = @_; return $guarantees->{$name}{verdict} // 'none' }

# One thread: whoever waits for the row waits for a session of the same thread.
my ($guarantees, $run) = measure('row-lock', 0, $direct, '-s', 'row-lock', '-S', 'mutex-hot', '--workers', 12,
    '--threads', 1, '--hold', '1ms', '--duration', '500ms');
is($run->{threads}, 1, 'row-lock: one thread');
is(verdict($guarantees, 'exclusive'), 'held', 'row-lock: exclusive');
cmp_ok($run->{successes_all} // 0, '>', 12, 'row-lock: the lock goes round');
is(scalar(grep { $_ > 0 } @{$run->{worker_successes}}), 12, 'row-lock: and each worker has had it');

# With transactions that stand open while others of the thread go on, on purpose.
($guarantees, $run) = measure('skip-locked-hold', 0, $direct, '-s', 'skip-locked-hold', '-S', 'drain', '--workers', 12,
    '--threads', 2, '--backlog', 300, '--tx-pause', '1ms');
is(verdict($guarantees, $_), 'held', "skip-locked-hold: $_") for qw(no-duplicate no-loss);

($guarantees, $run) = measure('listen-notify', 0, $direct, '-s', 'listen-notify', '-S', 'steady', '--workers', 8,
    '--threads', 1, '--duration', '500ms');
is(verdict($guarantees, $_), 'held', "listen-notify: $_") for qw(no-duplicate no-loss);

# What is broken is seen to be broken. Between its look and its write a session waits for the network,
# and the thread goes on with the others: all twelve look before the first has written.
($guarantees) = measure('read-then-write', 1, $direct, '-s', 'read-then-write', '-S', 'mutex-hot', '--workers', 12,
    '--threads', 1, '--duration', '500ms');
is(verdict($guarantees, 'exclusive'), 'violated', 'read-then-write: exclusive');

($guarantees, $run) = measure('pooler', 0, $pooled, '-s', 'skip-locked', '-S', 'drain', '--workers', 12, '--threads',
    2, '--backlog', 300);
is($run->{threads}, 2, 'pooler: two threads');
is(verdict($guarantees, $_), 'held', "pooler: $_") for qw(no-duplicate no-loss);

# Who has how many threads.
(undef, $run) = measure('by default', 0, $direct, '-s', 'row-lock', '-S', 'mutex-spread', '--workers', 8,
    '--duration', '100ms');
cmp_ok($run->{threads}, '<', 8, 'by default: fewer threads than workers');
(undef, $run) = measure('few workers', 0, $direct, '-s', 'row-lock', '-S', 'mutex-spread', '--workers', 3, '--duration',
    '100ms');
is($run->{threads}, 3, 'few workers: a thread each');
my (undef, undef, $err) = lockbench('run', '-s', 'row-lock', '-d', $direct, '--workers', 4, '--threads', 5);
like($err, qr/threads: at most one per worker/, 'more threads than workers');
(undef, undef, $err) = lockbench('run', '-s', 'row-lock', '-d', $direct, '--threads', 2, '--fault', 'pause');
like($err, qr/threads: a fault stops its victim's thread/, 'threads and a fault');
(undef, undef, $err) = lockbench('run', '-s', 'lock-row', '-d', 'sqlite:', '--threads', 2);
like($err, qr/threads: a call to SQLite blocks its thread/, 'threads on SQLite');

# The number of sessions that wait for a lock or stand in a transaction, as the server sees it.
sub busy
{
    return (sql(q{SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'lockbench worker%' AND state <> 'idle'}))[0];
}

sub until_busy
{
    for (1 .. 200) {
        return 1 if busy() >= 8;
        sleep 0.05;
    }
    return 0;
}

# Sessions that the server ends, as an operator would, in the middle of a lease: each worker connects
# again, in its fiber.
my $stopped = start('run', '-s', 'lease-update-safe', '-d', $direct, '-S', 'mutex-hot', '--workers', 8, '--threads', 1,
    '--ttl', '50ms', '--hold', '2ms', '--warmup', '0', '--duration', '1500ms', '--quiet', '--format', 'json');
# Rows of one statement; none while the tables are not there.
sub sql { my ($text) = @_; my @rows = `psql -XAtq -c "$text" '$direct' 2>$dir.psql`; chomp @rows; return @rows }
my $granted = 0;
for (1 .. 400) {
    my ($schema) = sql(q{SELECT nspname FROM pg_namespace WHERE nspname LIKE 'lockbench_lease%'});
    ($granted) = sql("SELECT count(*) FROM $schema.job_status WHERE fence > 5") if defined $schema;
    last if $granted;
    sleep 0.02;
}
ok($granted, 'sessions ended: the lease goes round before');
sql(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'lockbench worker%'});
my ($got, $out);
($got, $out, $err) = finish($stopped);
is($got, 0, 'sessions ended: exit status') or diag $err;
my $cell = eval { decode_json($out)->{cells}[0] } // {};
cmp_ok($cell->{runs}[0]{connections_lost} // 0, '>=', 8, 'sessions ended: connections were lost');
is(verdict($cell->{guarantees} // {}, 'exclusive'), 'held', 'sessions ended: exclusive');

# One holds the lock for a minute and seven wait for it in the server.
$stopped = start('run', '-s', 'row-lock', '-d', $direct, '-S', 'mutex-hot', '--workers', 8, '--threads', 1, '--hold',
    '1m', '--warmup', '0', '--duration', '10m');
ok(until_busy(), 'Ctrl-C: all but one wait');
kill 'INT', $stopped->{pid};
sleep 0.3;
kill 'INT', $stopped->{pid};
my $begin = time;
($got, $out, $err) = finish($stopped);
is($got, 130, 'Ctrl-C twice: exit status') or diag $err;
cmp_ok(time - $begin, '<', 30, 'Ctrl-C twice: it did not wait for the hold');
like($out, qr/^row-lock +postgres /m, 'Ctrl-C twice: it still reports');

# The server dies while they wait.
$stopped = start('run', '-s', 'row-lock', '-d', $direct, '-S', 'mutex-hot', '--workers', 8, '--threads', 1, '--hold',
    '20ms', '--warmup', '0', '--duration', '10m');
ok(until_busy(), 'server gone: it runs');
system "$servers stop --dir $dir >/dev/null 2>&1";
($got, $out, $err) = finish($stopped);
is($got, 3, 'server gone: exit status') or diag $out, $err;
like($out, qr/^row-lock +postgres +inconclusive/m, 'server gone: what was measured is reported');
done_testing();
