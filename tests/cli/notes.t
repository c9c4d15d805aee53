#!/usr/bin/env perl
# What stands below a table: a warning once and not once a run, with the runs that it is of, and why a strategy that is
# known to let nobody in let nobody in.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $file = scratch() . '/said.json';
my @command = ('compare', '-s', 'lease-update', '-S', 'mutex-hot', '--workers', '2', '--duration', '200ms', '--warmup', '0',
    '--repeat', '3', '-q', '--format', 'text', '--format', "json:$file");
my ($status, $out, $err) = lockbench(@command);
like($out, qr/^strategy +engine/m, 'a comparison') or diag $err;
my %runs_of;
for my $run (@{ decode_json(slurp($file))->{cells}[0]{runs} }) {
    push @{ $runs_of{$_} }, $run for @{ $run->{warnings} };
}
cmp_ok(scalar keys %runs_of, '>', 0, 'has warnings');
(my $line = $out) =~ s/\n  +(?=\S)/ /g; # unwrapped
for my $warning (sort keys %runs_of) {
    my $n = @{ $runs_of{$warning} };
    my $where = $n > 1 ? qr/\($n of 3 runs\)/ : qr/\(run [123] of 3\)/;
    my @told = $line =~ /^warning lease-update on sqlite, mutex-hot \Q$warning\E $where$/mg;
    is(scalar @told, 1, "said once, with its runs: $warning");
}
like($line, qr/^known lease-update on sqlite, mutex-hot next_run starts as NULL, .*; to let it run: --opt first_run=now$/m,
    'why nothing was granted, and what to do');

($status, $out) = lockbench(@command[0 .. $#command - 4], '--opt', 'first_run=now', '--count', '5', '--duration', '10m');
unlike($out, qr/^known /m, 'which is not said where it does not apply');
done_testing();
