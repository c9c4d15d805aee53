#!/usr/bin/env perl
# SIGKILL at random moments: of lockbench, of all of its processes, of the server. At any moment, no
# process is left, the history is read up to the last whole event, acknowledged operations are in
# the database and nothing twice, and the next run drops the remains.
#
# Also the server under a lockbench that lives on: --fault restart.
#
# LB_KILLS says how many of each kind (default 4, and 1 of the server and of the restart), LB_KILL_KINDS
# which.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use POSIX ();
use Test::More;
use Time::HiRes 'sleep';

my $seed = $ENV{LB_TEST_SEED} // int(rand(1e9));
print "# seed $seed\n";
srand($seed);
my $reader = ($ENV{LB_BUILD} // 'build') . '/tests/db/history_of_killed.t';
plan skip_all => "no $reader: built without cmocka" if !-x $reader;
plan skip_all => 'no sqlite3' if system('sqlite3 --version >/dev/null 2>&1') != 0;
my $scratch = scratch();
my @kinds = split /[\s,]+/, $ENV{LB_KILL_KINDS} // 'wal delete client server restart';

# A server of our own, with the settings that promise durability.
my ($server, $server_uri);
if (grep { $_ ne 'wal' && $_ ne 'delete' } @kinds) {
    ($server_uri) = servers('start', 'postgres');
    ($server) = (servers('status'))[0] =~ /^(\S+)/ if $? == 0;
}

sub sql
{
    my ($text) = @_;
    open my $pipe, '-|', 'psql', '-XAtq', '-c', $text, $server_uri or die "psql: $!\n";
    my @rows = <$pipe>;
    chomp @rows;
    close $pipe;
    return @rows;
}
sub schemas { return sql("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'lockbench%'") }

# Status by id, of the killed run's items.
sub items
{
    my ($file) = @_;
    my @rows;
    if (defined $file) {
        @rows = split /\n/, `sqlite3 '$file' 'SELECT id || "|" || status FROM item' 2>/dev/null` if -s $file;
    } else {
        my @tables = sql("SELECT schemaname FROM pg_tables WHERE tablename = 'item' AND schemaname LIKE 'lockbench%'");
        is(scalar(@tables) < 2, 1, 'one run at a time') or diag "@tables";
        @rows = sql("SELECT id || '|' || status FROM $tables[0].item") if @tables;
    }
    my %status;
    for (@rows) {
        my ($id, $status) = split /\|/;
        fail("item $id is there twice") if exists $status{$id};
        $status{$id} = $status;
    }
    return \%status;
}

# Acknowledged operations must be there.
sub compare
{
    my ($name, $history, $items) = @_;
    my ($n, @wrong) = (0);
    for my $line (split /\n/, `$reader --acknowledged '$history'`) {
        my ($op, $id) = split / /, $line;
        $n++;
        my $status = $items->{$id};
        push @wrong, "$line: " . ($status // 'not there')
            if !defined $status || ($op eq 'claim' && $status == 0) || ($op eq 'complete' && $status != 2);
    }
    is_deeply(\@wrong, [], "$name: all of $n acknowledged operations are there");
}

# A zombie has no file open any more; one with threads (l) still has.
sub gone
{
    my ($session) = @_;
    for (1 .. 6000) {
        my @left = grep { !/Z(?!.*l)/ && /\S/ } map { my $stat = `ps -o stat= -p $_`; $stat } split ' ', `pgrep -s $session`;
        return 1 if !@left;
        sleep 0.05;
    }
    return 0;
}

# Waits until the run's history has its header, which ends with the checksum at byte 72; before that
# there is nothing to read. Also ends where the run has ended by itself.
sub wait_for_header
{
    my ($out, $pid) = @_;
    for (1 .. 12000) {
        for my $history (glob "$out/.*/*.lbh $out/*/*.lbh") {
            open my $file, '<:raw', $history or next; # renamed meanwhile
            my $n = read $file, my $header, 80;
            return 1 if ($n // 0) == 80 && substr($header, 72) ne "\0" x 8;
        }
        last if `ps -o stat= -p $pid` !~ /^[^Z]/;
        sleep 0.05;
    }
    return 0;
}

sub kill_one
{
    my ($kind, $number) = @_;
    my $name = "$kind $number";
    my $file = $kind eq 'wal' || $kind eq 'delete' ? "$scratch/$kind.db" : undef;
    my $target = defined $file ? "sqlite:$file?journal=$kind" : $server_uri;
    my $out = "$scratch/out-$kind-$number";
    my $pid = fork() // die "fork: $!\n";
    if ($pid == 0) {
        POSIX::setsid();
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', "$scratch/log";
        open STDERR, '>', "$scratch/log";
        exec $ENV{LOCKBENCH}, 'run', '-s', 'skip-locked', '-S', 'steady', '-d', $target, '-o', $out, '--keep-history',
            '--duration', '10m', '--put-interval', '1ms', '--hold', '0', '--warmup', '0', '--processes', '3', '--quiet'
            or POSIX::_exit(99);
    }
    ok(wait_for_header($out, $pid), "$name: its history is begun") or diag slurp("$scratch/log");
    sleep rand(1); # the moment is to be any
    servers('halt', $server) if $kind eq 'server';
    my $all = rand() < 0.5;
    kill 'KILL', $all ? -$pid : $pid;
    waitpid $pid, 0;
    # Where its server was stopped first, it may have given up by itself.
    ok(($? & 127) == 9 || $kind eq 'server' && $? != 0, "$name: killed" . ($all ? ' with all of its processes' : ''))
        or diag slurp("$scratch/log");
    ok(gone($pid), "$name: no process is left");
    servers('resume', $server) if $kind eq 'server';

    my $items = items($file);
    my @histories = glob "$out/.*/*.lbh $out/*/*.lbh";
    cmp_ok(scalar(@histories), '<=', 1, "$name: one history at most");
    for my $history (@histories) {
        my $said = `$reader '$history'`;
        like($said, qr/^ok 1 /, "$name: the history is read") or diag $said;
        compare($name, $history, $items);
    }
    my ($status, undef, $err) = lockbench('run', '-s', 'skip-locked', '-S', 'steady', '-d', $target, '--backlog', '20', '--put-interval', '20ms',
        '--fault', 'slow', '--fault-interval', '20ms', '--fault-length', '1ms', '--fault-count', '2', '--duration', '0', '--warmup', '0', '--quiet');
    is($status, 0, "$name: the next run works") or diag $err;
    is_deeply([defined $file ? grep { !/\.db$/ } glob("$file*") : schemas()], [], "$name: and drops what was left");
}

# The server is stopped and started again, kills times, while lockbench goes on.
sub restarts
{
    my ($kills) = @_;
    my @run = ('run', '-d', $server_uri, '--fault', 'restart', '--fault-interval', '300ms', '--warmup', '0', '--quiet',
        '--format', 'json', '--progress-bound', '10m');
    my @restart = ('--restart-command', ($ENV{LB_SOURCE} // '.') . "/scripts/servers restart $server --dir $scratch/servers");
    for my $case (['skip-locked', 'no-loss', '-S', 'steady', '--recover', '200ms', '--ttl', '1s'], ['advisory-session', 'exclusive', '--hold', '20ms']) {
        my ($strategy, $guarantee, @args) = @$case;
        my ($status, $out, $err) = lockbench(@run, @restart, '-s', $strategy, @args, '--fault-count', $kills,
            '--duration', '0'); # ends with the faults
        is($status, 0, "restart, $strategy: as claimed") or diag $err;
        my $cell = eval { decode_json($out)->{cells}[0] } // {};
        my $one = $cell->{runs}[0] // {};
        is($one->{state}, 'complete', "restart, $strategy: complete");
        cmp_ok($one->{faults} // 0, '>=', 1, "restart, $strategy: there was one");
        cmp_ok($one->{connections_lost} // 0, '>=', 4, "restart, $strategy: noticed by all");
        is($cell->{guarantees}{$guarantee}{verdict}, 'held', "restart, $strategy: $guarantee");
        is_deeply([schemas()], [], "restart, $strategy: nothing is left");
    }
    my @refused = (
        [[], qr/fault restart needs --restart-command/, 'without a command'],
        [['--restart-command', 'true'], qr/has not restarted \S+: true$/m, 'a command that restarts something else'],
        [['--restart-command', 'exit 7'], qr/restart command failed \(status 7\): exit 7/, 'a command that fails'],
    );
    for my $case (@refused) {
        my ($args, $says, $name) = @$case;
        my ($status, $out, $err) = lockbench(@run, @$args, '-s', 'advisory-session', '--duration', '10s');
        isnt($status, 0, "restart, $name: refused");
        like("$out$err", $says, "restart, $name: says why") or diag $out, $err;
    }
    open my $psql, '|-', 'psql', '-XAtq', '-o', '/dev/null', $server_uri or die "psql: $!\n";
    sleep 0.05 while !grep { $_ > 1 } sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'psql'");
    my ($status, undef, $err) = lockbench(@run, @restart, '-s', 'advisory-session');
    is($status, 2, 'restart, not a private server: refused');
    like($err, qr/fault restart is for private servers: \S+ has 1 session of others/, 'restart, not a private server: says so');
    close $psql;
    restarts_of_programs(\@restart);
    return;
}

# A program loses its sessions, and lockbench starts it again when the server is back. A lock in an unlogged table is gone then,
# although a worker holds it. Every hold is longer than three restarts, so that another worker has time to start again and take the lock. On
# a machine that stands still for seconds it may have no time: then the run is made again.
sub restarts_of_programs
{
    my ($restart) = @_;
    my @run = ('run', '-d', $server_uri, '--fault', 'restart', '--warmup', '0', '--quiet', '--format', 'json', '-S', 'mutex-hot',
        '--duration', '0', '--fault-count', 2, '--progress-bound', '10m');
    my $programs = ($ENV{LB_SOURCE} // '.') . '/examples/programs';
    my @cases = (
        ['advisory.py', 'held', '--hold', '20ms', '--fault-interval', '300ms'],
        ['minion/lock.pl', 'violated', '--hold', '12s', '--ttl', '600s', '--workers', 3, '--fault-interval', '3s'],
    );
    for my $case (@cases) {
        my ($program, $want, @args) = @$case;
        SKIP: {
            skip "no Minion", 3 if $program =~ /minion/ && system('perl -MMinion -MMojo::Pg -e 1 2>/dev/null') != 0;
            my @asked = (@run, @$restart, '-s', "$programs/$program", @args);
            my (undef, $out, $err) = $want eq 'violated' ? until_shown(sub { $_[0] == 1 }, @asked) : lockbench(@asked);
            my $cell = eval { decode_json($out)->{cells}[0] } // {};
            is($cell->{guarantees}{exclusive}{verdict}, $want, "restart, $program: exclusive $want") or diag $err;
            cmp_ok($cell->{runs}[0]{connections_lost} // 0, '>=', 2, "restart, $program: workers lost their sessions");
            is_deeply([sql("SELECT datname FROM pg_database WHERE datname LIKE 'lockbench\\_%'")], [], "restart, $program: nothing is left");
        }
    }
    return;
}

for my $kind (@kinds) {
    SKIP: {
        skip "no PostgreSQL could be started: " . slurp("$scratch/servers.log"), 1
            if $kind ne 'wal' && $kind ne 'delete' && !defined $server;
        if ($kind eq 'restart') {
            restarts($ENV{LB_KILLS} // 1);
            next;
        }
        kill_one($kind, $_) for 1 .. $ENV{LB_KILLS} // ($kind eq 'server' ? 1 : 4);
    }
}
done_testing();
