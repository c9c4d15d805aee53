#!/usr/bin/env perl
# Many load machines: ranks of one MPI job, on this machine, each with a clock of its own that is off by up to 3,000 s
# and drifts. Broken strategies are caught, their repaired twins held, sums are those of all ranks;
# unsupported requests are refused in one line; a rank that is killed ends the run, and nothing is
# left.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use File::Temp qw(tempdir);
use Test::More;

my $program = ($ENV{LB_BUILD} // '.') . '/lockbench-mpi';
plan skip_all => 'no lockbench-mpi: libopenmpi-dev was not there when it was built' if !-x $program;
plan skip_all => 'no mpirun' if system('command -v mpirun >/dev/null') != 0;
my ($uri) = own_servers('--fast', 'postgres');
my ($tcp) = grep { /^postgresql:/ } servers('status', '--tcp');

$ENV{OMPI_ALLOW_RUN_AS_ROOT} = $ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} = 1;
$ENV{OMPI_MCA_rmaps_base_oversubscribe} = 1;
# A rank of a busy machine may be silent for long, and the tests wait for it.
$ENV{LOCKBENCH_RANK_PATIENCE} = 300;

sub ranks { my ($n, @args) = @_; return finish(start_program('mpirun', '-n', $n, $program, @args)) }
# A control is not caught in each run, and a run whose clocks could hardly be asked, as the machine stood still, may be
# undecided: measures again until the exit status is the one that is wanted.
sub measure
{
    my ($want, @args) = @_;
    return try_until(sub { return $_[0] == $want }, sub { return measure_once(@args) });
}
my $cell;
sub measure_once
{
    my (@args) = @_;
    local $ENV{LOCKBENCH_TEST_CLOCKS} = '0,-1000:50,3000:-50,1500:20';
    my ($status, $out, $err) = ranks(4, 'run', '-d', $uri, '--warmup', '0', '--quiet', '--format', 'json', '--progress-bound', '10m', @args);
    my $json = eval { decode_json($out) } // {};
    diag $err if !%$json;
    $cell = $json->{cells}[0] // {};
    return ($status, $cell->{guarantees} // {}, $cell->{runs}[0] // {});
}
# Unsupported requests. They mostly wait for mpirun's own end: meanwhile the rest is measured.
my @refused = (['run', '-s', 'skip-locked', '-S', 'drain', '--rounds', '2', qr/^lockbench: .*several ranks: --rounds is not offered/m],
    ['run', '-s', 'row-lock', '--fault', 'blocker', '--workers', '8', qr/^lockbench: .*several ranks: fault blocker is not offered, but kill, pause,/m],
    ['explore', '-s', 'row-lock', qr/^lockbench: explore is not offered with several ranks: use lockbench explore$/m]);
# Each with a folder of its own: OpenMPI's mpiruns that begin at once make the same one in TMPDIR, and one may fail.
for (@refused) {
    my ($want, @words) = (pop @$_, @$_);
    push @$_, [$want, start_program('env', 'TMPDIR=' . tempdir(DIR => scratch()), 'mpirun', '-n', 2, $program, @words, '-d', $uri, '--quiet')];
}

sub sum { my $sum = 0; $sum += $_ for @_; return $sum }

# Each of eight workers has its number of operations, so that no machine is too slow.
my ($status, $guarantees, $run) = measure(1, '-s', 'read-then-write', '--workers', 8, '--count', 10, '--duration', '10m', '--hold', '20ms');
is($status, 1, 'a control: exit status');
is($guarantees->{exclusive}{verdict}, 'violated', 'a control is caught, across clocks');
my $rows = $run->{ranks}{rows} // [];
is(scalar @$rows, 4, 'a row for each rank');
my @ahead = map { int($_->{clock_offset_ns} / 1e9 + ($_->{clock_offset_ns} < 0 ? -0.5 : 0.5)) } @$rows;
is("@ahead", '0 -1000 3000 1500', 'each with its clock');
is(sum(map { $_->{workers} } @$rows), 8, 'and its share of the workers');
is(sum(map { $_->{successes} } @$rows), sum(@{$run->{worker_successes}}), 'whose successes add up');
is(scalar @{$run->{worker_successes}}, 8, 'of all workers');

# A refused worker tries again some 100 ms later: so there is time between one's release and
# another's grant, more than the uncertainty of the clocks when ranks wait for a core.
($status, $guarantees, $run) = measure(0, '-s', 'row-lock-nowait', '--workers', 4, '--count', 2, '--duration', '10m', '--hold', '20ms',
    '--poll', '200ms', '--poll-max', '400ms');
is($status, 0, 'a lock: exit status');
is($guarantees->{exclusive}{verdict}, 'held', 'a lock is held');
is($run->{operations}{acquire}{succeeded}, 4 * 2, 'all acquires of all ranks are counted');
is($run->{guard_lost_updates}, 0, 'no write of any rank is missing');
like($cell->{reproduce}, qr/^mpirun -n 4 lockbench-mpi run -s row-lock-nowait /, 'the command that repeats it starts as many ranks');

($status, $guarantees, $run) = measure(0, '-s', 'skip-locked', '-S', 'drain', '--workers', 6, '--backlog', 900, '--duration', '10m');
is($status, 0, 'a queue: exit status');
is($guarantees->{'no-loss'}{verdict}, 'held', 'it is drained by all ranks, and lost nothing');
is($guarantees->{'no-duplicate'}{verdict}, 'held', 'and handed out nothing twice');
is($run->{items}, 900, 'all items are counted once');

# Each rank has its share of the arrivals: its workers' counts are done with just these, and all are taken up once.
($status, $guarantees, $run) = measure(0, '-s', 'row-lock-nowait', '--workers', 8, '--rate', 'phases:burst:16', '--count', 2, '--duration', '10m',
    '--poll', '200ms', '--poll-max', '400ms');
is($run->{operations}{acquire}{$_}, 16, "arrivals of all ranks: $_") for 'planned', 'started', 'succeeded';
is(scalar(grep { $_->{successes} == 4 } @{$run->{ranks}{rows}}), 4, 'and each rank has its share of them');

# More ranks than workers: the others have nothing to do. Each worker is a process, which is killed and replaced; four
# deaths end the run.
($status, $guarantees, $run) = measure(0, '-s', 'lease-upsert', '--workers', 3, '--fault', 'kill', '--fault-count', 4, '--fault-interval', '20ms',
    '--duration', '0', '--ttl', '100ms', '--hold', '1ms', '--poll', '20ms', '--poll-max', '200ms');
is($status, 0, 'deaths: exit status');
is($run->{faults}, 4, 'as many workers were killed as was asked for');
is(scalar @{$run->{ranks}{rows}}, 3, 'of those ranks that have workers');
is(scalar @{$run->{worker_successes}}, 3, 'who replaces a worker has its seat');

for (@refused) {
    my ($want, $started) = @{pop @$_};
    my ($code, $out, $err) = finish($started);
    is($code, 2, "@$_: refused");
    like("$out$err", $want, 'and why');
}

# The password goes to the ranks, and nowhere else.
my ($password) = $tcp =~ m{//[^:]+:([^@]+)@} or die;
my ($code, $out, $err) = ranks(2, 'run', '-s', 'skip-locked', '-S', 'drain', '-d', $tcp, '--workers-per-rank', '2', '--backlog', '50',
    '--duration', '10m', '--quiet', '--progress-bound', '10m');
is($code, 0, 'a password: all ranks connect') or diag $err;
is((grep { /\Q$password\E/ } $out, $err), 0, 'a password is not printed');
like($out, qr/^rank 1 on \S+: 2 workers, /m, 'workers of each rank');
unlike($out, qr/\e/, 'no colour, though each rank has a terminal');

sub schemas { return `psql -XAtq -c "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'lockbench%'" '$uri'` }
is(schemas(), '', 'no schema is left');

# A rank that is killed, or stands still, while it connects, warms up, is measured or ends.
SKIP: {
    skip 'takes its time: LB_TEST_SOAK=1', 1 if !$ENV{LB_TEST_SOAK};
    $ENV{LOCKBENCH_RANK_PATIENCE} = 5;
    for (['KILL', 2, 0.7], ['KILL', 1, 2], ['KILL', 3, 5], ['STOP', 2, 5], ['KILL', 1, 8], ['KILL', 0, 5]) {
        my ($signal, $rank, $after) = @$_;
        my $mpirun = start_program('mpirun', '-n', 4, $program, 'run', '-s', 'row-lock-nowait', '-d', $uri, '--workers', 8,
            '--warmup', '4s', '--duration', '4s', '--quiet');
        select undef, undef, undef, $after;
        my @launched = sort { $a <=> $b } split ' ', `pgrep -P $mpirun->{pid} -x lockbench-mpi`;
        my ($process) = split ' ', `pgrep -P $launched[$rank]`;
        kill $signal, $process;
        my ($code, $out, $err) = finish($mpirun);
        is($code, 5, "SIG$signal of rank $rank after $after s: exit status") or diag "$out$err";
        ok(wait_for(sub { return `pgrep -x lockbench-mpi` eq '' }), 'no process is left');
        ok(wait_for(sub { return schemas() eq '' }), 'no schema is left');
        unlike($out, qr/\bheld\b/, 'nothing is held');
    }
}
done_testing;
