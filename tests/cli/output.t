#!/usr/bin/env perl
# Where output goes that the user names: what a shell's `>` would do, and never half of a file.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use POSIX 'mkfifo';
use Test::More;

my $dir = scratch() . '/out';
mkdir $dir;
my ($status, $out, $err) = lockbench('run', '-s', 'pthread-mutex', '--duration', '100ms', '--warmup', '0', '--quiet', '-o', "$dir/a/b/results");
is($status, 0, 'run -o: missing folders are made') or diag $err;
lockbench('run', '-s', 'pthread-mutex', '--duration', '100ms', '--warmup', '0', '--quiet', '-o', "$dir/results");
my ($result) = glob "$dir/results/*";

# A reader of a FIFO gets the page, and the FIFO stays one.
mkfifo "$dir/fifo", 0600 or die;
my $reader = fork;
if ($reader == 0) { exec 'sh', '-c', "exec timeout 600 cat '$dir/fifo' > '$dir/from-fifo'" }
($status, $out, $err) = lockbench('report', $result, '-o', "$dir/fifo");
my $is_fifo = -p "$dir/fifo";

waitpid $reader, 0;
is($status, 0, 'report -o FIFO: exit status') or diag $err;
ok($is_fifo, 'report -o FIFO: it is still one');
like(slurp("$dir/from-fifo"), qr/<!doctype html>.*<\/html>\s*\z/si, 'report -o FIFO: its reader has the page');

# A symlink: its target is written; it stays a symlink. A dangling one too.
spew('out/goal.html', 'old');
chmod 0640, "$dir/goal.html";
for my $goal ('goal.html', 'new.html') {
    symlink $goal, "$dir/link-$goal" or die;
    ($status, $out, $err) = lockbench('report', $result, '-o', "$dir/link-$goal");
    is($status, 0, "report -o SYMLINK to $goal: exit status") or diag $err;
    ok(-l "$dir/link-$goal", "report -o SYMLINK to $goal: it is still one");
    like(slurp("$dir/$goal"), qr/<\/html>\s*\z/i, "report -o SYMLINK to $goal: what it leads to is the page");
}
is((stat "$dir/goal.html")[2] & 07777, 0640, 'the mode stays');

# A second name of the same file.
spew('out/one.html', 'old');
link "$dir/one.html", "$dir/two.html" or die;
lockbench('report', $result, '-o', "$dir/one.html");
is((stat "$dir/two.html")[1], (stat "$dir/one.html")[1], 'two names of one file stay that');

# Devices. Not one of the system's: as root, the earlier program replaced it.
SKIP: {
    skip 'needs root, to make a device', 4 if $> != 0 || system("mknod '$dir/full' c 1 7 2>/dev/null") != 0;
    skip 'devices cannot be opened here', 4 if !open my $probe, '>', "$dir/full";
    ($status, $out, $err) = lockbench('report', $result, '-o', "$dir/full");
    is($status, 3, 'report -o DEVICE that is full: exit status');
    like($err, qr{\Alockbench: cannot write \Q$dir\E/full: (?:cannot write the page: )?No space left on device\n\z}, 'report -o DEVICE that is full: one line');
    ok(-c "$dir/full", 'report -o DEVICE: it is still one');
    is_deeply([grep { /tmp$/ } glob "$dir/*"], [], 'report -o DEVICE: nothing beside it');
}

# A folder that is missing, one that is none, one that cannot be written.
($status, $out, $err) = lockbench('report', $result, '-o', "$dir/x/y/page.html");
is($status, 0, 'report -o x/y/page.html: missing folders are made') or diag $err;
($status, $out, $err) = lockbench('report', $result, '-o', "$dir/goal.html/page.html");
is($status, 3, 'report -o FILE/page.html: exit status');
like($err, qr{\Alockbench: [^\n]*goal\.html: Not a directory\n\z}, 'report -o FILE/page.html: one line');
($status, $out, $err) = lockbench('report', $result, '-o', '/proc/page.html');
is($status, 3, 'report -o where nothing can be made: exit status');
like($err, qr{\Alockbench: cannot write /proc/page\.html: \S[^\n]*\n\z}, 'report -o where nothing can be made: the reason');
($status, $out, $err) = lockbench('report', $result, '-o', $dir);
is($status, 2, 'report -o DIRECTORY: exit status');

# A witness for another tool, in the same way.
my $door = open_door();
($status, $out, $err) = lockbench('explore', '-s', $door, '-d', 'sqlite:', '--spec', "$dir/z/spec");
is($status, 2, 'explore --spec without PostgreSQL');
# A standard output that cannot be written: one line with the reason, and 3, with any verdict.
SKIP: {
    skip 'no /dev/full', 28 if !open my $probe, '>', '/dev/full';
    my $history = "$dir/lock.jsonl";
    spew('out/lock.jsonl', join '', map { qq({"type": "$_->[0]", "f": "$_->[1]", "process": 1, "time": $_->[2]}\n) }
        ['invoke', 'acquire', 1], ['ok', 'acquire', 2], ['invoke', 'release', 3], ['ok', 'release', 4]);
    my @model = ($history, '--model', 'mutex');
    my @run = ('-s', 'pthread-mutex', '--duration', '50ms', '--warmup', '0', '--quiet');
    for my $command (['check', @model], ['check', @model, '--format', 'json'], ['check', @model, '--format', 'tap'],
        ['check', @model, '--export', 'edn'], ['diff', $result, $result], ['diff', $result, $result, '--format', 'json'],
        ['diff', $result, $result, '--format', 'markdown'], ['report', $result, '-o', '-'], ['run', @run], ['run', @run, '--format', 'json'],
        ['verify', @run], ['list'], ['--help'], ['help', 'run']) {
        my $pid = fork;
        if ($pid == 0) {
            open STDOUT, '>', '/dev/full';
            open STDERR, '>', "$dir/full.err";
            exec $ENV{LOCKBENCH}, @$command or POSIX::_exit(99);
        }
        waitpid $pid, 0;
        my $name = join(' ', @$command) =~ s/\Q$dir\E\S*/FILE/gr;
        is($? >> 8, 3, "$name >/dev/full: exit status");
        is(slurp("$dir/full.err"), "lockbench: standard output: No space left on device\n", "$name >/dev/full: one line");
    }
}
done_testing();
