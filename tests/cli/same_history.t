#!/usr/bin/env perl
# Real runs with faults, exported. What means nothing changes no verdict: the names of workers, the
# numbers of logs, where time begins, the order of lines with one time, and the format. Cut at a line, a
# history whose whole is held is neither violated nor held. LB_TEST_CUTS=all cuts at every tenth line,
# LB_TEST_SEED=new draws other changes, LB_TEST_RUNS=N does it with N runs of more kinds.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json);
use List::Util qw(shuffle max);
use Lockbench;
use Test::More;

my $n_runs = 0;
my $json = JSON::PP->new->canonical;
my $seed = ($ENV{LB_TEST_SEED} // 1) eq 'new' ? time ^ $$ : $ENV{LB_TEST_SEED} // 1;
srand $seed;
diag "seed $seed" if defined $ENV{LB_TEST_SEED};

my @kill = ('--fault', 'kill', '--workers', 4, '--processes', 4, '--warmup', 0, '--fault-interval', '60ms',
    '--fault-count', 2, '--ttl', '40ms', '--hold', '3ms');
my %runs = (
    lock => ['-s', 'lease-update-safe', @kill, '--duration', '300ms', '--resources', 2, '--poll', '2ms', '--think', '1ms'],
    queue => ['-s', 'lease-queue', '-S', 'drain', @kill, '--backlog', 60],
    rescue => ['-s', 'cas', '-S', 'queue-rescue', '--hold', '60ms', '--ttl', '40ms', '--put-interval', '30ms', '--duration',
        '400ms'],
);
# These only in a soak.
my @brief = ('--warmup', 0, '--workers', 4, '--duration', '300ms');
my %more = (
    overrun => ['-s', 'lease-update-safe', '-S', 'overrun', @brief],
    upsert => ['-s', 'lease-upsert', @kill, '--duration', '300ms', '--poll', '2ms', '--think', '1ms'],
    version => ['-s', 'lease-version', @kill, '--duration', '300ms', '--poll', '2ms', '--think', '1ms'],
    mutex => ['-s', 'unique-mutex', @brief, '--hold', '1ms', '--poll', '1ms'],
    slots => ['-s', 'slots', '-S', 'limited', @brief, '--hold', '1ms', '--poll', '1ms'],
    line => ['-s', 'fifo-poll-safe', @brief, '--hold', '1ms', '--poll', '1ms'],
    late => ['-s', 'lease-queue', '-S', 'queue-overrun', @brief],
    batches => ['-s', 'skip-locked', '-S', 'drain', '--warmup', 0, '--workers', 4, '--backlog', 60],
    moved => ['-s', 'move-table', '-S', 'drain', @kill, '--backlog', 40],
    once => ['-s', 'delete-on-claim', '-S', 'drain', @kill, '--backlog', 60],
    given => ['-s', 'cas', '-S', 'give-back', @brief],
);

# Of a run, its history as lines.
sub exported
{
    my ($name) = @_;
    my $into = scratch() . '/' . ++$n_runs;
    my ($status, $out, $err) = lockbench('run', @{ $runs{$name} }, '--keep-history', '-o', $into, '-q');
    my ($file) = glob "$into/*/history.lbh";
    BAIL_OUT("$name: exit status $status, no history: $out $err") if !defined $file;
    ($status, $out, $err) = lockbench('check', '--export', 'jsonl', $file);
    is($status, 0, "$name: exported") or diag $err;
    return map { decode_json($_) } split /\n/, $out;
}

# The verdicts, without the words of witnesses and the times of the program's own work.
sub judged
{
    my ($text, $suffix) = @_;
    my ($status, $out, $err) = lockbench('check', '--json', spew("judged.$suffix", $text));
    my $found = eval { decode_json($out) } or return "exit status $status: $err";
    my %told;
    for my $name (keys %{ $found->{guarantees} }) {
        my %of = %{ $found->{guarantees}{$name} };
        $told{$name} = { map { $_ => $of{$_} } grep { /^(?:verdict|violations|tested|reason)$/ } keys %of };
    }
    return $json->encode([$status, \%told, $found->{measures}]);
}

sub text_of { return join '', map { $json->encode($_) . "\n" } @_ }

# The lines in order of time; those of one time in any order, but for each log's own.
sub in_some_order
{
    my ($meta, @lines) = @_;
    my %rank = map { $_ => rand } map { $_->{log} } @lines;
    my @order = sort { $lines[$a]{time} <=> $lines[$b]{time} || $rank{ $lines[$a]{log} } <=> $rank{ $lines[$b]{log} } || $a <=> $b }
        0 .. $#lines;
    return ($meta, @lines[@order]);
}

# The same history with other numbers for logs. Some notes, and the object of a beat, name a log.
sub with_other_logs
{
    my ($meta, @lines) = @_;
    my @new = shuffle 0 .. max(map { ($_->{log}, $_->{f} =~ /^(?:death|session-end|fault)$/ ? $_->{arg} // 0 : 0) } @lines);
    for my $line (@lines) {
        $line->{log} = $new[$line->{log}];
        $line->{arg} = 0 + ($new[$line->{arg} // 0] // $line->{arg}) if $line->{f} =~ /^(?:death|session-end|fault)$/;
        $line->{object} = $new[$line->{object} // 0] if $line->{f} eq 'beat';
    }
    return ($meta, @lines);
}

my %changes = (
    'names of workers' => sub {
        my ($meta, @lines) = @_;
        for my $line (@lines) {
            $line->{$_} = "worker no. $line->{$_}" for grep { exists $line->{$_} && $line->{$_} =~ /^\d+$/ } 'process', 'by';
        }
        return ($meta, @lines);
    },
    'numbers of logs' => \&with_other_logs,
    'where time begins' => sub {
        my ($meta, @lines) = @_;
        my $later = 0 + sprintf '%d', rand 1e15;
        $_->{time} += $later for $meta, @lines;
        $meta->{value} =~ s/^end_ns=(\d+)/'end_ns=' . ($1 + $later)/me;
        return ($meta, @lines);
    },
    'order of lines with one time' => \&in_some_order,
    'all of these' => undef,
);
$changes{'all of these'} = sub {
    my @lines = @_;
    @lines = $changes{$_}->(@lines) for grep { $_ ne 'all of these' } sort keys %changes;
    return in_some_order(@lines);
};

sub try_run
{
    my ($name) = @_;
    my @lines = exported($name);
    delete $_->{index} for @lines;
    # By a coarse clock, many lines have one time.
    for my $coarse (1, 200_000) {
        $_->{time} -= $_->{time} % $coarse for @lines;
        my $base = text_of(@lines);
        my $want = judged($base, 'jsonl');
        for my $change ($coarse == 1 ? sort keys %changes : 'all of these') {
            my @copy = map { decode_json($_) } split /\n/, $base;
            my $text = text_of($changes{$change}->(@copy));
            is(judged($text, 'jsonl'), $want, "$name by a clock of $coarse ns, $change") or diag spew("$name.jsonl", $base);
        }
        my ($status, $edn, $err) = lockbench('check', '--export', 'edn', scratch() . '/judged.jsonl');
        is($status, 0, "$name: exported as EDN") or diag $err;
        is(judged($edn, 'edn'), $want, "$name by a clock of $coarse ns, as EDN");
        next if $coarse > 1;
        like($want, qr/"verdict":"held"/, "$name: something is held") if !$more{$name};
    }
    my $whole = text_of(@lines);
    return if judged($whole, 'jsonl') =~ /"violated"/; # a bound on times, on a machine that is starved
    my $step = ($ENV{LB_TEST_CUTS} // '') eq 'all' ? 10 : max(10, int(@lines / 12));
    my @bad;
    for (my $n = 10 + int rand $step; $n < @lines; $n += $step) {
        my $told = judged(text_of(@lines[0 .. $n - 1]), 'jsonl');
        push @bad, "$n: $told" if $told =~ /"verdict":"(?:violated|held)"/ || $told !~ /^\[5,/;
    }
    is("@bad", '', "$name: cut at a line, nothing is violated and nothing is held") or diag spew("$name.jsonl", $whole);
}
%runs = (%runs, %more) if defined $ENV{LB_TEST_RUNS};
my @names = sort keys %runs;
try_run($names[$_ % @names]) for 0 .. ($ENV{LB_TEST_RUNS} // @names) - 1;
done_testing();
