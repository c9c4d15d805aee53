#!/usr/bin/env perl
# An interrupted campaign goes on where it was: every run exactly once, in the planned order, from the
# planned seed. The moment of the interruption is a line of the progress, not a time. Where this test is not let run at
# that moment, and all is over before its signal, it is done again.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use POSIX ();
use Test::More;

my $lock = good_lock();
my $dir = scratch() . '/results';
my @command = ('compare', '-s', $lock, '--workers', '1,2,3', '--hold', '0,1ms', '--duration', '10m', '--count', '15', '--warmup', '0');
my @plan = (@command, '--repeat', '2', '--seed', '77');

# Runs it with its progress in a pipe, and calls act with its process when the n-th run is done (it may
# be a little further by then); n may also be a pattern, and act gets the number of lines that had
# it. Returns its status, its lines of progress and what it wrote.
sub run_until
{
    my ($n, $act, @args) = @_;
    pipe(my $read, my $write) or die;
    my $out = scratch() . '/resume.out';
    my $pid = fork() // die;
    if ($pid == 0) {
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', $out or POSIX::_exit(99);
        open STDERR, '>&', $write or POSIX::_exit(99);
        exec $ENV{LOCKBENCH}, @args or POSIX::_exit(99);
    }
    close $write;
    my @lines;
    my $n_seen = 0;
    while (my $line = <$read>) {
        push @lines, $line;
        $act->($pid, ++$n_seen) if defined $n && $line =~ (ref $n ? $n : qr{^\[$n/});
    }
    waitpid $pid, 0;
    my $status = $? & 127 ? 128 + ($? & 127) : $? >> 8;
    return ($status, \@lines, slurp($out));
}

# The same in a directory of results as it is now, until the process was ended so, and is_there of its lines and output.
sub again_until
{
    my ($wanted, $is_there, $dir, @args) = @_;
    my $end = time + 600;
    system 'rm', '-rf', "$dir.before";
    system 'cp', '-a', $dir, "$dir.before" if -e $dir;
    while (1) {
        my @answer = run_until(@args);
        return @answer if $answer[0] == $wanted && $is_there->(@answer[1, 2]) || time > $end;
        system 'rm', '-rf', $dir;
        system 'cp', '-a', "$dir.before", $dir if -e "$dir.before";
    }
}

# So many runs at most were done when it was interrupted.
sub at_most
{
    my ($most) = @_;
    return sub { return join('', @{$_[0]}) =~ m{^lockbench: (\d+) of 12 runs are done}m && $1 <= $most };
}
my $any = sub { return 1 };

sub spew_at
{
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
    return;
}

sub signal_it
{
    my ($name) = @_;
    return sub { kill $name => $_[0] };
}

# "good-lock sqlite mutex-hot[...]" of each run.
sub runs { return map { m{^\[(\d+)/12\] (.*?): } ? "$1 $2" : () } @{$_[0]} }

sub check_whole
{
    my ($name, $result) = @_;
    my $json = decode_json(slurp("$result/run.json"));
    is(scalar @{$json->{cells}}, 6, "$name: all cells");
    is_deeply([map { [map { "$_->{state} $_->{seed}" } @{$_->{runs}}] } @{$json->{cells}}],
        [(['complete 77', 'complete 78']) x 6], "$name: each run once, from its seed");
    ok(!$json->{interrupted}, "$name: is not called interrupted");
    ok(!-e "$result/checkpoint", "$name: the checkpoint is gone");
    my %starts = map { $_->{start_unix_ms} => 1 } map { @{$_->{runs}} } @{$json->{cells}};
    is(scalar(grep { -s "$result/$_" } 'intervals.jsonl', 'latency.hlog'), 2, "$name: the other files");
    my @hlog = grep { /^Tag=/ } split /\n/, slurp("$result/latency.hlog");
    my %tags = map { /^Tag=([^,]+)/ ? ($1 => 1) : () } @hlog;
    is(scalar(grep { m{/acquire$} } keys %tags), 12, "$name: a histogram of every run");
    return $json;
}

my ($status, $lines) = run_until(undef, undef, @plan, '-o', "$dir-whole");
is($status, 0, 'the whole plan');
my @planned = runs($lines);
is(scalar @planned, 12, '... has twelve runs');
check_whole('uninterrupted', glob "$dir-whole/*");

# --- SIGKILL
($status, my $first) = again_until(137, $any, $dir, 5, signal_it('KILL'), @plan, '-o', $dir);
is($status, 137, 'killed');
my ($left) = glob "$dir/.*-compare.*";
ok(defined $left && -s "$left/checkpoint", 'a checkpoint is left') or BAIL_OUT('no checkpoint');
is(scalar(() = glob "$dir/*"), 0, '... and no result');
my $checkpoint = slurp("$left/checkpoint");

my @refusals = (
    [[@command, '--repeat', '2', '--seed', '77', '--think', '1ms'], qr/begun with good-lock on sqlite, mutex-hot\[workers=1 hold=0\]: think "500us", and now it is "1ms"/],
    [[@command, '--repeat', '2', '--seed', '78'], qr/begun with seed 77, and now it is 78/],
    [[@command, '--repeat', '3'], qr/begun with repeat 2, and now it is 3/],
    [[@plan, '--no-record'], qr/begun with no-record false, and now it is true/],
    [[@plan, '--workers', '1,2'], qr/begun with 6 cells, and now there are 4|mutex-hot\[workers=\d hold=\S+\]: scenario/],
    [[@plan, '--opt', 'form=fancy'], qr/: form not set, and now it is "fancy"/],
    [['run', '-s', $lock], qr/begun with command "compare", and now it is "run"/],
    [[@plan, '-o', $dir], qr/--resume: goes on in .*: leave out -o/],
    [[@plan, '--save', 'x'], qr/leave out --save/],
);
for my $wrong (@refusals) {
    ($status, undef, my $err) = lockbench(@{$wrong->[0]}, '-q', '--resume', $left);
    is($status, 2, 'refused');
    like($err, $wrong->[1], '... by name');
}
($status, undef, my $nowhere) = lockbench('plan', '--resume', "$dir/nowhere");
is($status, 2, 'nothing there to resume');
like($nowhere, qr{^lockbench: option --resume: \S*/nowhere/checkpoint: No such file}, '... is told before what else is missing');
my $sql = slurp($lock);
spew('good-lock.sql', "$sql\n-- changed\n");
($status, undef, my $err) = lockbench(@plan, '-q', '--resume', $left);
is($status, 2, 'other statements are refused');
like($err, qr/begun with other statements of good-lock on sqlite/, '... by name');
spew('good-lock.sql', $sql);
is(slurp("$left/checkpoint"), $checkpoint, 'a refusal changes nothing');

($status, my $rest, my $out) = run_until(undef, undef, @command, '--repeat', '2', '--resume', $left, '--format', 'json');
is($status, 0, 'resumed') or diag join '', @$rest;
my $n_kept = 12 - runs($rest);
cmp_ok($n_kept, '>=', 5, 'what was told to be done is kept');
is_deeply([runs($rest)], [@planned[$n_kept .. 11]], 'the rest of the plan, in its order');
my ($result) = glob "$dir/*";
is($result, $left =~ s{/\.}{/}r =~ s{\.\d+$}{}r, 'the result has its name');
my $json = check_whole('resumed', $result);
is(scalar(() = glob "$dir/.*-compare.*"), 0, '... and nothing else is left');
is($json->{seed}, 77, '... the seed is that of the plan');
is($json->{cells}[0]{summary}{successes_per_s}, decode_json($out)->{cells}[0]{summary}{successes_per_s},
    '... and is what was told');
($status, undef, $err) = lockbench(@plan, '-q', '--resume', $result);
is($status, 2, 'a whole result cannot be resumed');
like($err, qr/No such file or directory: a result that is whole has none/, '... and why');

# --- a record that was cut off, and bytes that are none
for my $damage (['cut', substr($checkpoint, 0, -9), $n_kept - 1], ['followed by rubbish', $checkpoint . 'x' x 100, $n_kept],
    ['changed in its last record', substr($checkpoint, 0, -9) . 'y' . substr($checkpoint, -8), $n_kept - 1]) {
    my ($what, $bytes, $whole) = @$damage;
    my $copy = "$dir/.20260101T000000Z-copy.1";
    mkdir $copy or die;
    open my $file, '>', "$copy/checkpoint" or die;
    print $file $bytes;
    close $file or die;
    ($status, $rest) = run_until(undef, undef, @plan, '--resume', $copy);
    is_deeply([(@planned)[0 .. $whole - 1], runs($rest)], \@planned, "$what: what is whole is taken");
    system 'rm', '-rf', "$dir/20260101T000000Z-copy";
}

# --- SIGINT, twice, and another process meanwhile
($status, $first) = again_until(130, at_most(6), "$dir-int", 3, signal_it('INT'), @plan, '-o', $dir . '-int');
is($status, 130, 'interrupted');
($result) = glob "$dir-int/*";
ok(decode_json(slurp("$result/run.json"))->{interrupted}, '... the result says so');
my ($n, $where) = join('', @$first) =~ m{^lockbench: (\d+) of 12 runs are done; .* --resume (\S+) }m;
is($where, $result, '... and how to go on');
($status, $rest) = again_until(130, at_most(10), "$dir-int", $n + 1, signal_it('INT'), @plan, '--resume', $result);
is($status, 130, 'interrupted again');
is((runs($rest))[0], $planned[$n], '... after it went on where it was');
my @second;
my $meanwhile = sub {
    my ($pid) = @_;
    kill STOP => $pid;
    @second = lockbench(@plan, '-q', '--resume', $result);
    kill CONT => $pid;
};
($n) = join('', @$rest) =~ m{^lockbench: (\d+) of 12 runs are done}m;
($status, $rest) = again_until(0, sub { return $second[0] == 2 }, "$dir-int", $n + 1, $meanwhile, @plan, '--resume', $result);
is($status, 0, 'resumed to the end') or diag join '', @$rest;
is($second[0], 2, 'two at once are refused');
like($second[2], qr/another lockbench is at it/, '... with the reason');
check_whole('twice interrupted', $result);
# --- a plan: the next runs depend on the earlier ones, which are there again
my @search = ('plan', '-s', 'pthread-mutex', '--workers', '1,2,3,4,5,6', '--hold', '1ms', '--duration', '40ms', '--warmup', '0',
    '--repeat', '2', '--slo', 'p50<1s');

# The runs of a plan in the order in which they were made, and where the search went.
sub trace
{
    my ($json) = @_;
    my $plan = $json->{plans}[0];
    my $key = sub { my ($at) = @_; my $run = $json->{cells}[$at->{cell}]{runs}[$at->{run}]; "$at->{cell} $run->{seed} $run->{start_unix_ms}" };
    return ([map { $key->($_) } @{$plan->{points}}], [map { $key->($_) } @{$plan->{slo}{trace}}]);
}

my $in_sweep = sub { return $_[1] =~ /interrupted before the search began/ };
($status, $first, $out) = again_until(130, $in_sweep, "$dir-plan", 7, signal_it('INT'), @search, '--seed', '5', '-o', "$dir-plan");
is($status, 130, 'a plan: interrupted in its sweep');
like($out, qr/^  How much p50<1s allows is not known: interrupted before the search began\.$/m, '... says why there is no rate')
    or diag $out;
($result) = glob "$dir-plan/*";
like(join('', @$first), qr{^lockbench: \d+ runs are done; .* --resume \Q$result\E }m, '... and how to go on');
my ($points) = trace(decode_json(slurp("$result/run.json")));
for my $wrong ([[@search, '--at', '2'], qr/begun with question ".*--slo 'p50<1s'", and now it is ".*--at 2"/],
    [[@search, '--repeat', '3'], qr/begun with repeat 2, and now it is 3/], [[@search, '--duration', '50ms'], qr/: duration "40ms", and now it is "50ms"/]) {
    ($status, undef, $err) = lockbench(@{$wrong->[0]}, '-q', '--resume', $result);
    is($status, 2, '... another plan is refused');
    like($err, $wrong->[1], '... by name');
}
($status, $rest, $out) = again_until(137, $any, "$dir-plan", 13, signal_it('KILL'), @search, '--resume', $result);
is($status, 137, '... and killed in its search');
unlike(join('', @$rest), qr/^\[1\/|^\[7\//m, '... having run nothing twice');
($status, $rest) = run_until(undef, undef, @search, '--resume', $result);
$json = decode_json(slurp("$result/run.json"));
ok(!$json->{plans}[0]{interrupted} && !-e "$result/checkpoint", '... is whole when resumed again') or diag join '', @$rest;
my ($all, $trace) = trace($json);
is_deeply([@$all[0 .. $#$points]], $points, '... with the runs from before');
is(scalar @$all, 12, '... all of the sweep');
is_deeply([map { (split ' ')[1] } @$all], [(5) x 6, (6) x 6], '... from the planned seeds');
cmp_ok(scalar @$trace, '>=', 3, '... and the search');
my %seen;
is((grep { $seen{$_}++ } @$all, @$trace), 0, '... each run once');

# --- A budget: the rounds before the interruption count, with the time that they took, and it goes on after them.
(my $other = $sql) =~ s/good.lock/other_lock/g;
$other =~ s/^-- strategy: .*$/-- strategy: other-lock/m;
my @pair = ('compare', '-s', "$lock," . spew('other-lock.sql', $other), '--workers', '2', '--hold', '1ms', '--duration', '100ms',
    '--warmup', '0', '--seed', '5');
my $cut = scratch() . '/budget';
my $at_fourth = sub { kill KILL => $_[0] if $_[1] == 4 };
($status) = again_until(137, $any, $cut, qr/^\[\d+, .* left\]/, $at_fourth, @pair, '--budget', '4s', '-o', $cut);
is($status, 137, 'a budget is killed after its second round: three are run in any case');
my ($begun) = glob "$cut/.*-compare.*";
($status, undef, $err) = lockbench(@pair, '--budget', '3s', '-q', '--resume', $begun);
is($status, 2, 'another budget is refused');
like($err, qr{begun with question "--budget 4s", and now it is "--budget 3s"}, '... by name');
($status, undef, $err) = lockbench(@pair, '--budget', '4s', '-q', '--resume', $begun);
is($status, 0, 'a budget is resumed') or diag $err;
my ($whole) = glob "$cut/*";
$json = decode_json(slurp("$whole/run.json"));
my @runs = map { $_->{runs} } @{$json->{cells}};
is(scalar @{$runs[0]}, scalar @{$runs[1]}, '... both have the same rounds');
cmp_ok(scalar @{$runs[0]}, '>=', 3, '... and more than before');
for my $of (@runs) {
    is_deeply([map { $_->{seed} } @$of], [map { 5 + $_ } 0 .. $#$of], '... each round once, from its seed');
    is((grep { $of->[$_]{start_unix_ms} < $of->[$_ - 1]{start_unix_ms} } 1 .. $#$of), 0, '... one after the other');
}
my ($rates) = grep { $_->{measured} eq 'rate' } @{$json->{rankings}};
my ($spent, @looks) = (0, @{$rates->{looks}});
$spent += $_->{alpha} for @looks;
cmp_ok($spent, '<=', 0.05 + 1e-9, '... all looks spend no more than one');
is($looks[0]{rounds}, 3, '... the first after three rounds, as without an interruption');
is($looks[-1]{rounds}, scalar @{$runs[0]}, '... the last over all of them');
ok(!-e "$whole/checkpoint" && !$json->{interrupted}, '... and it is whole');

# --- the histories of runs that were cut short give way
my $kept = scratch() . '/kept';
my @kept = (@command[0 .. 2], '--workers', '1,2,3', '--duration', '10m', '--count', '15', '--warmup', '0', '--repeat', '1',
    '--keep-history');
($status) = again_until(137, $any, $kept, qr{^\[1/3\]}, signal_it('KILL'), @kept, '-o', $kept);
is($status, 137, 'killed while histories are kept');
my ($stopped) = glob "$kept/.*-compare.*";
my ($history) = glob "$stopped/history-*.lbh" or BAIL_OUT('no history');
spew_at($_, slurp($history)) for grep { !-e } map { $history =~ s/workers_\d_/workers_${_}_/r } 1 .. 3;
($status, $rest) = run_until(undef, undef, @kept, '--resume', $stopped);
is($status, 0, 'resumed over the histories that were left') or diag join '', @$rest;
my @histories = glob "$kept/*/history-*.lbh";
is(scalar @histories, 3, '... and each run has one');
done_testing();
