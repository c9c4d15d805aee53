#!/usr/bin/env perl
# Files that cannot be had: a database that is read-only or in use, a disk that is full. One line that says
# which, an exit status that says the environment is at fault, and nothing half-written. The full disk
# is a limit on the size of files (RLIMIT_FSIZE), which fails at the same byte each time.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $lock = good_lock();
my $queue = good_queue();
my @short = ('--duration', '10m', '--count', '10', '--warmup', '0', '--quiet');

# Runs with a limit on the size of files, in KiB.
sub limited
{
    my ($kib, @args) = @_;
    my $pid = open my $pipe, '-|';
    if ($pid == 0) {
        open STDERR, '>', scratch() . '/limited.err';
        exec 'bash', '-c', "ulimit -f $kib; exec \"\$@\"", 'bash', $ENV{LOCKBENCH}, @args or exit 99;
    }
    my $out = join '', <$pipe>;
    close $pipe;
    return ($? >> 8, $out, slurp(scratch() . '/limited.err'));
}

# Files below a directory, hidden ones too.
sub files { my ($dir) = @_; return grep { length } split /\n/, `find '$dir' -type f 2>/dev/null` }

# --- read-only ---
SKIP: {
    my $file = scratch() . '/read-only.db';
    my ($status) = lockbench('run', '-s', $lock, '-d', "sqlite:$file", @short);
    is($status, 0, 'a file that can be written');
    chmod 0444, $file;
    my @as = $> == 0 ? ('setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups') : ();
    skip 'no setpriv', 2 if @as && system('setpriv --version >/dev/null 2>&1') != 0;
    my $err = join '', `TMPDIR=/tmp @as '$ENV{LOCKBENCH}' run -s '$lock' -d 'sqlite:$file' @short 2>&1`;
    is($? >> 8, 3, 'read-only: exit status');
    like($err, qr/\Alockbench: [^\n]*\Q$file\E[^\n]*(?:read-?only|permission)[^\n]*\n\z/i, 'read-only: one line');
}

# --- full ---
my $results = scratch() . '/results';
mkdir $results;
my @full = (
    ['the database', 2000, qr{\Q@{[scratch()]}\E/full\.db: \S}, '-s', $queue, '-S', 'steady', '-d',
        'sqlite:' . scratch() . '/full.db', '--put-interval', '0', '--payload', '4k', '--duration', '20m'],
    ['the kept history', 300, qr{/history\.lbh:\s+the history cannot be written: no space left; free}, '-s', 'pthread-mutex',
        '--duration', '20m', '--hold', '0', '--keep-history'],
    ['the temporary history', 300, qr{^  the history cannot be written: no space left; free some or set TMPDIR$}m, '-s',
        'pthread-mutex', '--duration', '20m', '--hold', '0'],
    ['the result', 1, qr{\Alockbench: \Q$results\E/\S+/run\.json: \S[^\n]*\n\z}, '-s',
        'pthread-mutex', '--duration', '100ms', '--no-record'],
);
for my $case (@full) {
    my ($name, $kib, $says, @args) = @$case;
    my ($status, $out, $err) = limited($kib, 'run', @args, '--quiet', '--warmup', '0', '-o', $results);
    is($status, 3, "full, $name: exit status") or diag $out;
    like($name eq 'the result' ? $err : $out, $says, "full, $name: says which file, and why") or diag $out, $err;
    like($err, qr/\Alockbench: [^\n]+\n\z/, "full, $name: one line on standard error");
    is_deeply([grep { m{/\.} } files($results)], [], "full, $name: nothing half-written");
}

# --- two at once on one file ---
my $two = 'sqlite:' . scratch() . '/two.db';
my $first = start('run', '-s', $lock, '-d', $two, '--duration', '10m', '--quiet');
# The check before the run also creates the file, and deletes it. Workers write more than 200 kB.
wait_for(sub { return (-s scratch() . '/two.db-wal' // 0) > 200_000 });
my ($status, $out, $err) = lockbench('run', '-s', $lock, '-d', $two, @short);
is($status, 3, 'two at once: exit status of the second');
like($err, qr{\Alockbench: \Q@{[scratch()]}\E/two\.db is in use by another lockbench\n\z}, 'two at once: one line');
kill 'INT', $first->{pid};
($status) = finish($first);
is($status, 130, 'two at once: the first is not disturbed');
done_testing();
