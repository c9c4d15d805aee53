#!/usr/bin/env perl
# The fault term: holders are asked to stop, in turns finish, give back and are killed after the grace; others take their
# place. In tests/deploys/stop.sql section stop gives back what a worker has, or strands it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $file = "$ENV{LB_SOURCE}/tests/deploys/stop.sql";
my @term = ('-d', 'sqlite:', '--fault', 'term', '--fault-interval', '50ms', '--grace', '30ms', '--warmup', '0',
    '--fault-count', '9');
my @queue = ('-S', 'steady', '--put-interval', '20ms', '--hold', '5ms', '--ttl', '150ms', '--recover', '30ms', '--duration', '2s',
    '--recovery-bound', '1s');

my $kept = start('run', '-s', $file, @term, @queue);
my $dropped = start('run', '-s', $file, @term, @queue, '--opt', 'stops=drops');
my $freed = start('run', '-s', 'cas', @term, @queue);
my $program = start('run', '-s', "$ENV{LB_SOURCE}/examples/programs/queue.py", @term, @queue, '--duration', '4s');
my $lock = start('run', '-s', 'lease-update-safe', '-S', 'mutex-hot', @term, '--ttl', '150ms', '--hold', '2ms', '--duration', '2s');

# A program gets SIGTERM, with its item in hand.
{
    my ($status, $out, $err) = finish($program);
    is($status, 0, 'a program: held') or diag "$out$err";
    like($out, qr/^queue-py +sqlite +term +[1-9] +0 +[1-9] /m, '... some were asked to stop, with an item') or diag $out;
}

# Every third is killed, and where stop gives back, another third leaves what it has: these are deaths. A busy machine has fewer.
for my $case (['stop gives back', $kept], ['free gives back', $freed], ['a lock', $lock]) {
    my ($what, $run) = @$case;
    my ($status, $out, $err) = finish($run);
    is($status, 0, "$what: held") or diag "$out$err";
    like($out, qr/^\S+ +sqlite +term +[1-9] +0 +[1-9] /m, '... some were asked to stop, and left what they had') or diag $out;
}
my @answer = finish($dropped);
@answer = until_shown(sub { $_[0] == 1 }, 'run', '-s', $file, @term, @queue, '--opt', 'stops=drops') if $answer[0] != 1;
is($answer[0], 1, 'stop strands the jobs: violated') or diag "$answer[1]$answer[2]";
like($answer[1], qr/^  recovery, \d+ times?/m, '... recovery');

# The item is ended in its successor's hold: the successor waits for that, if the machine runs both within the grace.
my @late = ('run', '-s', $file, @term, @queue, '--grace', '300ms', '--ttl', '400ms', '--fault-count', '4', '--opt', 'ended=any');
@answer = until_shown(sub { $_[0] == 1 }, @late);
is($answer[0], 1, 'a late end completes what the successor has: violated') or diag "$answer[1]$answer[2]";
like($answer[1] =~ s/\s+/ /gr, qr/owner-release, \d+ times? in \d+: worker \d+'s complete of item \d+ .* had an effect, .* worker \d+ owned it/,
    '... owner-release');
unlike($answer[1], qr/^  (no-loss|no-duplicate|recovery), /m, '... and nothing else');

my ($status, $out, $err) = lockbench('verify', '-s', $file, '--plan');
like($out, qr/steady\+term .*it has stop/, 'verify asks for it');
my $lock_file = spew('lock.sql', slurp(good_lock()) . "\n-- name: stop\nDELETE FROM good_lock;\n");
($status, $out, $err) = lockbench('lint', $lock_file);
is($status, 2, 'a lock has no section stop');
like("$out$err", qr/stop/, '... by name');

done_testing();
