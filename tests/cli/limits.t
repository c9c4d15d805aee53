#!/usr/bin/env perl
# Where the machine gives no more descriptors, processes or threads, a command ends by itself, with one line and the
# status of the environment, and leaves nothing behind.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $lock = good_lock();
my $tmp = scratch() . '/limits';
mkdir $tmp or die;
chmod 0777, $tmp;
chmod 0644, $lock;
$ENV{TMPDIR} = $tmp;
my @many = ('-s', $lock, '-S', 'mutex-hot', '-d', 'sqlite:', '--workers', '100', '--duration', '100ms', '--warmup', '0', '--quiet');

sub ends_with_a_line
{
    my ($name, $limit, $as, @args) = @_;
    my @account = $as ? ('setpriv', '--reuid', $as, '--regid', $as, '--clear-groups') : ();
    my $run = start_program('timeout', '-s', 'KILL', '60', @account, 'prlimit', $limit, $ENV{LOCKBENCH}, @args);
    my ($status, $out, $err) = finish($run);
    is($status, 3, "$name: exit status") or diag $out, $err;
    is(scalar(() = $err =~ /\n/g), 1, '... and one line') or diag $err;
    is_deeply([glob "$tmp/*"], [], '... and nothing is left behind');
}

for my $processes (1, 2, 10) {
    ends_with_a_line("20 descriptors, $processes processes", '--nofile=20', undef, 'run', @many, '--processes', $processes);
}
ends_with_a_line('20 descriptors, threads', '--nofile=20', undef, 'run', @many);

# A file of a few bytes: the lock of a run is not written whole. What is said goes to a pipe.
for my $command ('run', 'explore') {
    my @args = $command eq 'run' ? @many : ('-s', $lock, '-d', 'sqlite:', '--quiet');
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1 >/dev/null', 'sh', 'timeout', '-s', 'KILL', '60', 'prlimit', '--fsize=20', $ENV{LOCKBENCH}, $command, @args or die;
    my @lines = <$pipe>;
    close $pipe;
    is($? >> 8, 3, "files of 20 bytes, $command: exit status");
    is(scalar(@lines), 1, '... and one line') or diag @lines;
    is_deeply([glob "$tmp/*"], [], '... and nothing is left behind');
}

# A limit on processes is for all of a user's: a user that has no others.
SKIP: {
    skip 'not root: other processes of this user count, too', 4 * 3 if $> != 0;
    my $user = 60000 + $$ % 5000;
    skip 'other users may not execute lockbench', 4 * 3
        if system('setpriv', '--reuid', $user, '--regid', $user, '--clear-groups', 'sh', '-c', "'$ENV{LOCKBENCH}' --version >/dev/null 2>&1 && test -r '$lock'") != 0;
    for my $how (['--processes', '50'], ['--fault', 'kill'], ['--processes', '2'], []) {
        ends_with_a_line("12 processes, @$how", '--nproc=12', $user, 'run', @many, @$how);
    }
}
done_testing();
