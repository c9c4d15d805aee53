#!/usr/bin/env perl
# The replicated servers of scripts/servers do what their commands say: stalled commits are lost by
# a failover, a synchronous pair does not answer before its standby has it, a rebuilt member follows
# again, a split leaves two that take writes; an isolated Galera member refuses, and comes back. And
# lockbench spreads its workers over the members, and finds the violations there.
# Only with scripts/test --all: it starts pairs and a Galera cluster.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;

my $servers = ($ENV{LB_SOURCE} // '.') . '/scripts/servers';
my $top = tempdir('lb-repl.XXXX', TMPDIR => 1, CLEANUP => 1);
chmod 0711, $top;
$ENV{XDG_STATE_HOME} = "$top/state";

sub servers
{
    my ($words) = @_;
    my $out = `$servers $words --dir $top/s 2>$top/err </dev/null`;
    return ($? >> 8, $out);
}

sub err
{
    open my $file, '<', "$top/err" or return '';
    local $/;
    return scalar <$file>;
}

my %uri;
sub remember
{
    my (undef, $out) = servers('status');
    %uri = map { (split /\t/)[0, 3] } split /\n/, $out;
}

# The rows of a query, joined; undef if the server refuses.
sub psql
{
    my ($uri, $sql) = @_;
    my $out = `timeout 300 psql -XAtq '$uri' -c "$sql" 2>&1`;
    return $? == 0 ? $out =~ s/\n$//r : undef;
}

sub mariadb
{
    my ($member, $sql) = @_;
    my $out = `timeout 300 mariadb --no-defaults --socket=$top/s/$member/socket/s -u lockbench -N -B lockbench -e "$sql" 2>&1`;
    return $out =~ s/\n$//r;
}

# The rows of t once the member has what the others have. On a busy machine that takes longer than the server waits (error 1205).
sub synced_count
{
    my ($member) = @_;
    my $answer;
    for (1 .. 4) {
        $answer = mariadb($member, 'SET wsrep_sync_wait = 15; SELECT count(*) FROM t');
        last if $answer !~ /ERROR 1205/;
    }
    return $answer;
}

my $lockbench = $ENV{LOCKBENCH} // 'build/dev/lockbench';

# The exit status of a run, and its first cell.
sub run_on
{
    my ($uri, @args) = @_;
    my $words = join ' ', map { "'$_'" } @args;
    my $out = `timeout 600 $lockbench run -d '$uri' $words --format json 2>$top/err </dev/null`;
    my $status = $? >> 8;
    my $cell = eval { decode_json($out)->{cells}[0] } // {};
    return ($status, $cell);
}

# The verdict of exclusive, and the run.
sub exclusive
{
    my ($uri, @args) = @_;
    my ($status, $cell) = run_on($uri, @args, qw(--workers 4 --hold 2ms --think 0 --warmup 0 --progress-bound 0 -q));
    return "$status " . ($cell->{guarantees}{exclusive}{verdict} // 'none');
}

# The servers as reported by lockbench.
sub topology
{
    my ($uri) = @_;
    my (undef, $cell) = run_on($uri, qw(-s lease-update-safe --workers 1 --duration 50ms --warmup 0 -q));
    return $cell->{runs}[0]{server_settings}{topology};
}

END { system("$servers stop --dir $top/s >/dev/null 2>&1") if defined $top && -d "$top/s" }

SKIP: {
    my ($status, $out) = servers('start --fast pg-pair pg-pair-sync');
    skip 'no pair of PostgreSQL servers: ' . (split /\n/, err())[-1], 1 if $status != 0;
    remember();
    my ($pair, $sync) = @uri{'pg-pair', 'pg-pair-sync'};
    is($out, "$pair\n$sync\n", 'one URI each');
    is(psql($pair, 'SELECT pg_is_in_recovery()'), 'f', 'it reaches the primary');
    is(psql($uri{'pg-pair-b'}, 'SELECT pg_is_in_recovery()'), 't', 'b is the standby');
    # On a starved machine the standby may be away for a moment.
    my ($is, $looks) = (topology($pair), 0);
    $is = topology($pair) while !defined $is && $looks++ < 200;
    is($is, 'async', 'lockbench knows the asynchronous standby');
    is(topology($sync), 'sync', 'and the synchronous one');
    # Each commit is seen there 50 ms late, so that a look there is old whoever is scheduled when.
    psql($uri{'pg-pair-b'}, $_) for "ALTER SYSTEM SET recovery_min_apply_delay = '50ms'", 'SELECT pg_reload_conf()';
    is(exclusive($pair, qw(-s lease-replica-look --count 20 --duration 0)), '1 violated', 'who looks at the standby and writes at the primary is caught')
        or diag err();
    is(exclusive($pair, qw(-s lease-replica-hint --count 4 --duration 0)), '0 held', 'who asks the primary again is not') or diag err();
    is(exclusive($uri{'pg-pair-a'}, qw(-s lease-replica-look)), '2 none', 'a target of one server');
    like(err(), qr/^lockbench: lease-replica-look reads on a replica, and -d names one server: give it several hosts$/, 'is refused in a line');
    my $both = $pair =~ s/pg-pair-b/pg-pair-a/r;
    $both =~ s/port=(\d+),\d+/port=$1,$1/;
    is(exclusive($both, qw(-s lease-replica-look)), '3 none', 'several hosts without a standby');
    like(err(), qr/^lockbench: .*no replica among the hosts of -d: /, 'are refused, too');
    psql($uri{'pg-pair-b'}, $_) for 'ALTER SYSTEM RESET recovery_min_apply_delay', 'SELECT pg_reload_conf()';
    psql($pair, 'CREATE TABLE t (id int)');
    servers('stall pg-pair');
    is(psql($pair, 'INSERT INTO t VALUES (1) RETURNING id'), 1, 'a stalled pair acknowledges a commit');
    ($status) = servers('failover pg-pair');
    is($status, 0, 'failover') or diag err();
    is(psql($pair, 'SELECT pg_is_in_recovery()'), 'f', 'the URI reaches the new primary');
    is(psql($pair, 'SELECT count(*) FROM t'), 0, 'and the commit is lost');
    ($status) = servers('rebuild pg-pair');
    is($status, 0, 'rebuild') or diag err();
    is(psql($uri{'pg-pair-a'}, 'SELECT pg_is_in_recovery()'), 't', 'a is the standby now');
    psql($pair, 'INSERT INTO t VALUES (2)');
    ($status) = servers('split pg-pair');
    is($status, 0, 'split') or diag err();
    is(psql($uri{"pg-pair-$_"}, 'INSERT INTO t VALUES (3) RETURNING id'), 3, "$_ takes writes") for 'a';
    my $old = ($uri{'pg-pair-b'} =~ s{socket}{socket%2Fcut}r);
    is(psql($old, 'INSERT INTO t VALUES (3) RETURNING id'), 3, 'and the old primary, behind the cut');
    is(psql($uri{'pg-pair-b'}, 'SELECT 1'), undef, 'which new clients do not reach');

    psql($sync, 'CREATE TABLE t (id int)');
    is(psql($sync, 'INSERT INTO t VALUES (1) RETURNING id'), 1, 'a synchronous pair commits');
    servers('stall pg-pair-sync');
    # Commits in the background; the pid of its backend, once that waits for the standby.
    my $commit = sub {
        my ($id) = @_;
        my $child = fork() // die "fork: $!";
        exec 'sh', '-c', "psql -XAtq '$sync' -c 'INSERT INTO t VALUES ($id) RETURNING id' >$top/out 2>/dev/null"
            if $child == 0;
        my ($backend, $tries) = ('', 0);
        while ($backend eq '' && $tries++ < 6000) {
            $backend = psql($sync, "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'") // '';
            select undef, undef, undef, 0.05;
        }
        return ($child, $backend);
    };
    my ($child, $backend) = $commit->(2);
    isnt($backend, '', 'a stalled synchronous pair waits for its standby');
    psql($sync, "SELECT pg_cancel_backend($backend)");
    waitpid $child, 0;
    is($?, 0, 'but a cancelled wait is acknowledged');
    ($child) = $commit->(3);
    ($status) = servers('failover pg-pair-sync');
    is($status, 0, 'failover of the synchronous pair') or diag err();
    waitpid $child, 0;
    isnt($?, 0, 'who waited was told nothing');
    is(psql($sync, 'SELECT count(*) FROM t'), 1, 'what was acknowledged by both is there');
}

SKIP: {
    skip 'failovers inside of runs are asked for by LB_TEST_SOAK=1: they want a quiet machine', 1 if !$ENV{LB_TEST_SOAK};
    skip 'no pair of PostgreSQL servers', 1 if !$uri{'pg-pair'};
    my $fail_over = sub {
        my ($pair, $fault, $strategy, $command) = @_;
        my ($rebuilt) = servers("rebuild $pair");
        is($rebuilt, 0, "$pair is rebuilt") or diag err();
        $command //= "$servers \$STEP $pair --dir $top/s";
        my ($status, $cell) = run_on($uri{$pair}, '-s', $strategy, '--fault', $fault, '--failover-command', $command,
            qw(--workers 4 --hold 5ms --ttl 20s --warmup 0 --duration 0 --fault-count 1 --fault-length 1s -q),
            qw(--fault-interval 300ms --progress-bound 60s));
        my %verdict = map { $_ => $cell->{guarantees}{$_}{verdict} } keys %{$cell->{guarantees} // {}};
        return ($status, %verdict);
    };
    my ($status, %verdict) = $fail_over->('pg-pair', 'failover', 'lease-update-safe');
    is($status, 1, 'an asynchronous failover lets two in') or diag err();
    is($verdict{fenced}, 'violated', 'with the same fence');
    ($status, %verdict) = $fail_over->('pg-pair', 'failover', 'lease-epoch');
    is("$verdict{exclusive} $verdict{fenced}", 'violated held', 'which grows where the timeline is part of it');
    servers('rebuild pg-pair');
    my $out = `$lockbench verify -s lease-update-safe,lease-epoch,row-lock -d '$uri{'pg-pair'}' --matrix --isolation read-committed --faults failover --failover-command '$servers \$STEP pg-pair --dir $top/s' -q 2>$top/err`;
    is($? >> 8, 0, 'verify knows what breaks there') or diag err();
    like($out, qr/PostgreSQL [0-9.]+, asynchronous standby/, 'and the matrix says where');
    ($status) = $fail_over->('pg-pair-sync', 'failover', 'lease-update-safe');
    is($status, 0, 'a synchronous one does not') or diag err();
    ($status) = $fail_over->('pg-pair-sync', 'cancel-sync', 'lease-update-safe');
    is($status, 1, 'unless the wait is cancelled') or diag err();
    ($status) = $fail_over->('pg-pair', 'failover', 'advisory-session');
    is($status, 0, 'a lock that is its session\'s ends with it') or diag err();
    ($status) = $fail_over->('pg-pair', 'failover', 'lease-update-safe', 'true');
    is($status, 2, 'a command that does nothing');
    like(err(), qr/has not moved us from \S+ to another node \(STEP=failover\): true/, 'is found out');
    ($status) = run_on($uri{'pg-pair'}, qw(-s lease-update-safe --fault partition -q));
    isnt($status, 0, 'without a command');
    like(err(), qr/fault partition needs --failover-command, which is run with STEP=stall, split and rebuild/, 'it says so');
}

SKIP: {
    my ($status, $out) = servers('start --fast galera');
    skip 'no Galera cluster: ' . (split /\n/, err())[-1], 1 if $status != 0;
    remember();
    is($out, "$uri{galera}\n", 'one URI');
    like($out, qr{^mariadb://lockbench\@localhost/lockbench\?socket=[^,]+,[^,]+,[^,]+$}, 'with three members');
    is(mariadb("galera-$_", "SHOW STATUS LIKE 'wsrep_cluster_size'"), "wsrep_cluster_size\t3", "member $_ knows three")
        for 1 .. 3;
    mariadb('galera-1', 'CREATE TABLE t (id int PRIMARY KEY)');
    mariadb('galera-2', 'SET wsrep_sync_wait = 15; INSERT INTO t VALUES (1)');
    is(synced_count('galera-3'), 1, 'a write is everywhere');

    is(topology($uri{galera}), 'galera', 'lockbench knows the cluster');
    is(topology("$uri{galera}&spread=first"), 'galera-one', 'and that one node locks as a single server does');
    my $cell;
    my @short = (qw(--workers 4 --hold 2ms --duration 1s --warmup 0 -q));
    if ($ENV{LB_TEST_SOAK}) {
        ($status, $cell) = run_on($uri{galera}, '-s', 'row-lock', @short);
        is($status, 1, 'a row lock excludes nobody on another member') or diag err();
        is_deeply([sort values %{$cell->{runs}[0]{nodes}}], ['0 3', '1', '2'], 'the result says who was where');
        ($status, $cell) = run_on("$uri{galera}&spread=first", '-s', 'row-lock', @short);
        is($status, 0, 'but excludes all on the same member') or diag err();
        is_deeply($cell->{runs}[0]{nodes}, {}, 'which has no others to name');
        ($status) = run_on($uri{galera}, '-s', 'lease-update-safe', @short);
        is($status, 0, 'a lease excludes everywhere') or diag err();
        # The product's lost commit, and that our own statements are not among its victims.
        my @lines = map { [split /\t/] } split /\n/, `timeout 300 $ENV{LB_BUILD}/tests/tools/lost_commit $top/s/galera-1/socket/s $top/s/galera-2/socket/s 2>$top/err`;
        is(scalar @lines, 4, 'commits are counted') or diag err();
        my %lost = map { $_->[0] => $_->[4] } @lines[1 .. $#lines];
        is("$lost{nothing} $lost{SELECT}", '0 0', 'a transaction is acknowledged and there, or refused');
        cmp_ok($lost{PREPARE}, '>', 0, 'unless a statement is prepared in it: docs/galera-lost-commit.md');
        my $n_held = grep { (run_on($uri{galera}, qw(-s for-update -S drain --backlog 20 --workers 6 --hold 0 -q)))[0] == 0 } 1 .. 20;
        is($n_held, 20, 'lockbench prepares before the transaction');
    }
    ($status) = servers('isolate galera-3');
    is($status, 0, 'isolate') or diag err();
    like(mariadb('galera-3', 'SELECT count(*) FROM t'), qr/1047/, 'an isolated member refuses');
    if ($ENV{LB_TEST_SOAK}) {
        ($status, $cell) = run_on($uri{galera}, '-s', 'lease-update-safe', @short);
        is($status, 0, 'and lockbench goes to those that are ready') or diag err();
        is_deeply([sort values %{$cell->{runs}[0]{nodes}}], ['0 2 3', '1'], 'from the last to the first');
    }
    is(mariadb('galera-1', 'INSERT INTO t VALUES (2); SELECT count(*) FROM t'), 2, 'the others go on');
    ($status) = servers('heal galera-3');
    is($status, 0, 'heal') or diag err();
    is(synced_count('galera-3'), 2, 'it has what it missed');
    ($status) = servers('restart galera-2');
    is($status, 0, 'a member that is killed comes back') or diag err();
    is(synced_count('galera-2'), 2, 'with everything');
}
SKIP: {
    skip 'a pair from nothing is asked for by LB_TEST_SOAK=1', 1 if !$ENV{LB_TEST_SOAK};
    my $out = `TMPDIR=$top $ENV{LB_SOURCE}/scripts/failover --count 1 2>$top/err </dev/null`;
    is($? >> 8, 0, 'scripts/failover shows two holders, from nothing') or diag $out, err();
    like($out, qr/two holders in 1 of 1, no verdict in 0/, 'and counts them');
    is_deeply([glob "$top/lockbench-failover.*"], [], 'and leaves nothing');
}
my ($status) = servers('isolate nosuch');
is($status, 3, 'no such member');
($status) = servers('stop');
is($status, 0, 'stop');
ok(!-e "$top/s", 'and nothing is left');
is(scalar(grep { (readlink "$_/cwd" // '') =~ m{^\Q$top\E/} } glob '/proc/[0-9]*'), 0, 'no process either');
done_testing();
