#!/usr/bin/env perl
# Notes below a table: a warning once and not for each run, with its runs, and the reason why a
# strategy known to let no worker in did so.
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

# compare itself tries an option with a known break: the result is reported, and is no finding about
# the compared strategies. If the user requests the option, it is compared.
my @broken = ('compare', '-s', 'lease-update', '-d', 'sqlite:', '--workers', '8', '--duration', '500ms', '--repeat', '1', '-q');
my $is_shown = sub { $_[1] =~ /^VIOLATED lease-update.* on sqlite/m };
($status, $out, $err) = until_shown($is_shown, @broken);
like($out, qr/^VIOLATED lease-update\[first_run=now.*\] on sqlite, overrun$/m, 'a known break of an option is told') or diag $out;
is($status, 5, '... and the status says only that the strategy itself was never granted') or diag $err;
($status, $out, $err) = until_shown($is_shown, @broken, '-S', 'overrun', '--opt', 'first_run=now', '--opt', 'times=second');
is($status, 1, '... but with one where the option was asked for') or diag $out, $err;
# 200 holds a second at most, and 5,000 that are wanted.
my @behind = ('run', '-s', good_lock(), '-S', 'mutex-hot', '--workers', '1', '--hold', '5ms', '--rate', '5000/s', '--max-pending', '100',
    '--duration', '1s', '--warmup', '0', '-q', '--format', 'text', '--format', "json:$file");
my $rates = qr{[\d.]+k?/s of [\d.]+k?/s; (\d+) were left at the end, \S+ \w+ of work if no more came; (\d+) found 100 waiting \(--max-pending\) and were left out$};
($status, $out, $err) = until_shown(sub { $_[1] =~ s/\n  +(?=\S)/ /gr =~ /falls behind/ }, @behind);
($line = $out) =~ s/\n  +(?=\S)/ /g;
like($line, qr/^warning good-lock on sqlite, mutex-hot falls behind: $rates/m, 'what falls behind says by how much') or diag $err;
my ($left, $skipped) = $line =~ /falls behind: $rates/m;
my $run = decode_json(slurp($file))->{cells}[0]{runs}[0];
my $asked = $run->{operations}{acquire};
is($skipped, $asked->{skipped}, '... what was left out');
is($left + $skipped + $asked->{succeeded}, $run->{open_loop}{due}, '... and nothing is missing');
done_testing();
