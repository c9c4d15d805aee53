#!/usr/bin/env perl
# What is no regular file in the place of a result's is refused: a FIFO would block for ever. Names that control a terminal
# are refused, too, or printed without what controls it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use POSIX ();
use Test::More;

my $scratch = scratch();
my @run = ('run', '-s', 'pthread-mutex', '--duration', '20ms', '--warmup', '0', '--quiet');
is((lockbench(@run, '-o', "$scratch/r"))[0], 0, 'a result');
my ($result) = glob "$scratch/r/*";

# Gives it a minute; whoever waits for a writer of the FIFO is killed.
sub within_a_minute { return finish(start_program('timeout', '-s', 'KILL', '60', $ENV{LOCKBENCH}, @_)) }

for my $name ('run.json', 'intervals.jsonl') {
    rename "$result/$name", "$scratch/kept" or die "$name: $!";
    POSIX::mkfifo("$result/$name", 0600) or die "$name: $!";
    my ($status, $out, $err) = within_a_minute('report', $result, '-o', '-');
    isnt($status, 137, "$name, report: it ends");
    cmp_ok(scalar(() = $err =~ /\n/g), '<=', 1, '... with at most one line') or diag $err;
    is($status, 2, '... as for a bad file') or diag $err;
    like($err, qr/\Q$name\E/, '... which it names');
    my ($diff) = within_a_minute('diff', $result, $result);
    isnt($diff, 137, "$name, diff: it ends");
    unlink "$result/$name";
    rename "$scratch/kept", "$result/$name" or die;
}

my ($status, undef, $err) = lockbench(@run, '--save', "a\e[31m");
is($status, 2, '--save: no name that controls a terminal');
unlike($err, qr/\e/, '... in clean words');
($status, undef, $err) = lockbench(@run, '--save', "a\xff");
is($status, 2, '--save: UTF-8 only');

my $ini = spew('e.ini', "[a\e[31mb\xff]\ncommand = run\nstrategy = pthread-mutex\nduration = 20ms\nwarmup = 0\n");
my $out;
($status, $out, $err) = lockbench('experiment', $ini);
unlike("$out$err", qr/[\e\xff]/, 'a section of an experiment: in clean words');
done_testing();
