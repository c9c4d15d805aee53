#!/usr/bin/env perl
# Endless input, and unknown names: one line, and an exit status.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use POSIX 'mkfifo';
use Test::More;

# A limit on the memory of the process makes the bound small; a writer that never ends feeds it. ulimit counts KiB.
sub endless
{
    my ($redirection, $file) = @_;
    my $command = "ulimit -v 400000; timeout 600 \"\$LOCKBENCH\" check --model mutex $file $redirection 2>&1";
    my $out = `bash -c '$command'`;
    return ($? >> 8, $out);
}
my $line = qr/\Alockbench: \S+: more than 195 MB without an end, half of the memory that is free; put it into a file[^\n]*\n\z/;
my ($status, $out) = endless('< <(yes)', '-');
is($status, 3, 'check - without an end: exit status');
like($out, $line, 'check - without an end: one line');
my $fifo = scratch() . '/fifo';
mkfifo $fifo, 0600 or die;
my $writer = fork;
if ($writer == 0) { exec 'sh', '-c', "exec timeout 600 yes > '$fifo' 2>/dev/null" or POSIX::_exit(99) }
($status, $out) = endless('', $fifo);
waitpid $writer, 0;
is($status, 3, 'check FIFO without an end: exit status');
like($out, $line, 'check FIFO without an end: one line');

# Files of a terabyte, nearly all of it a hole. Each must be refused at its first byte that cannot be.
sub sparse
{
    my ($path, $begin) = @_;
    open my $file, '>', $path or die;
    print $file $begin;
    close $file or die;
    # Where a file cannot be that large, a smaller one has to do.
    truncate $path, 1 << 40 or truncate $path, 1 << 32 or die;
}
my $sparse = scratch() . '/sparse';
my %begin = ('nothing' => '', 'JSON Lines' => '{"type": "invoke", "f": "acquire"', 'a string in JSON Lines' => '{"type": "', 'EDN' => '{:type :invoke',
    'a string in EDN' => '{:type "', 'a comment in EDN' => '; ', 'a line of JSON' => "{\"a\": 1}\n");
for my $name (sort keys %begin) {
    sparse($sparse, $begin{$name});
    my @others = $name =~ /^nothing|JSON$/ ? ("report '$sparse' -o -", "diff '$sparse' '$sparse'", "run -s pthread-mutex -S '$sparse'", "run -s '$sparse'") : ();
    for my $command ("check --model mutex '$sparse'", @others) {
        my $said = `timeout 600 "$ENV{LOCKBENCH}" $command 2>&1 >/dev/null`;
        is($? >> 8, 2, "a terabyte behind $name: $command: exit status");
        like($said, qr/\Alockbench: [^\n]+\n\z/, '... and one line');
    }
}

# A result that never ends, and such files beside it.
my $said = `yes ' ' | timeout 600 "$ENV{LOCKBENCH}" report /dev/stdin -o - 2>&1 >/dev/null`;
is($? >> 8, 2, 'a result without an end: exit status');
like($said, qr{\Alockbench: /dev/stdin: not a regular file\n\z}, 'a result without an end: one line');

# --allow names a key of the results.
my $results = scratch() . '/results';
lockbench('run', '-s', 'pthread-mutex', '--duration', '50ms', '--warmup', '0', '--quiet', '-o', $results);
my ($result) = glob "$results/*";
($status, $out, my $err) = lockbench('diff', $result, $result, '--allow', 'nonsense');
is($status, 2, 'diff --allow nonsense: exit status');
like($err, qr/\Alockbench: option --allow: neither result has a key 'nonsense'; there are after-setup, machine, cores, [^\n]*\bworkers\b[^\n]*\n\z/, 'diff --allow nonsense: names those that exist');
($status, $out, $err) = lockbench('diff', $result, $result, '--allow', 'worker');
like($err, qr/\Alockbench: option --allow: neither result has a key 'worker'[^\n]*workers/, 'diff --allow worker');
($status, $out, $err) = lockbench('diff', $result, $result, '--allow', 'workers', '--allow', 'cores');
isnt($status, 2, 'diff --allow workers: is allowed') or diag $err;

for my $beside ('intervals.jsonl') {
    sparse("$result/$beside", '');
    my ($rc, undef, $message) = lockbench('report', $result, '-o', '-');
    is($rc, 2, "report of a result whose $beside is a terabyte: exit status");
    like($message, qr{\Alockbench: \Q$result/$beside\E:[^\n]*\n\z}, '... and one line');
    unlink "$result/$beside" or die;
}

# More resources than can be made.
($status, $out, $err) = lockbench('run', '-s', 'pthread-mutex', '--resources', '1G');
is($status, 2, 'run --resources 1G: exit status');
like($err, qr/\Alockbench: [^\n]*resources: from 1 to 1000000\n\z/, 'run --resources 1G: one line');
done_testing();
