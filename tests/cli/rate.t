#!/usr/bin/env perl
# The guarantee rate: never more items begun in a window than the file says. tests/strangers/rated.sql has a token bucket
# and a table of begins, which are right, and three that are not. The judge alone: tests/unit/check_rate.c.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $file = "$ENV{LB_SOURCE}/tests/strangers/rated.sql";
my @uris = ('sqlite:', grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '');
my @few = ('run', '-s', $file, '-S', 'drain', '--backlog', 14, '--format', 'json');

sub verdict_of
{
    my ($status, $out) = @_;
    return eval { decode_json($out)->{cells}[0]{guarantees}{rate}{verdict} } // "status $status: $out";
}
for my $uri (@uris) {
    my ($engine) = $uri =~ /^(\w+)/;
    for my $take ('window', 'bucket') {
        my ($status, $out, $err) = lockbench(@few, '-d', $uri, '--opt', "take=$take");
        is(verdict_of($status, $out), 'held', "$engine, take=$take: held") or diag $err;
        is($status, 0, '... and all items are claimed, though workers hear "empty" for longer than a window');
    }
    # A full bucket; and windows side by side, unless the first begins with the run (some 3 of 100).
    for my $take ('full', 'reset') {
        my @answer = until_shown(sub { verdict_of(@_) eq 'violated' }, @few, '-d', $uri, '--opt', "take=$take");
        is(verdict_of(@answer), 'violated', "$engine, take=$take: violated");
    }
    for my $case (['window', 0], ['bucket', 0], ['counted', 1]) {
        my ($take, $wanted) = @$case;
        my ($status, $out) = lockbench('explore', '-s', $file, '-d', $uri, '-q', '--opt', "take=$take", '--opt', 'most=1', '--opt', 'window_ms=60000');
        is($status, $wanted, "$engine, take=$take: explored with a limit of 1") or diag $out;
        like($out, $wanted ? qr/^  rate +violated/m : qr/^  complete.*^  rate +held/ms, '... as the verdict says');
        like($out, qr/no-loss +not tested: some\s+items\s+were\s+not\s+claimed,\s+and\s+may\s+wait\s+for\s+the\s+rate/, '... which keeps the second item from being claimed') if !$wanted;
    }
}

# A window that ends in a schedule need not end there in its replay.
for (1 .. 6) {
    my ($status, $out) = lockbench('explore', '-s', $file, '-q', '--opt', 'take=reset', '--opt', 'most=1', '--opt', 'window_ms=100');
    next if $status != 5;
    like($out, qr/^  rate +violated.*NOT\s+CONFIRMED.*ask\s+for\s+the\s+time/ms, 'a violation that no replay repeats says so');
    last;
}

# --- the plan, histories and headers ---
my (undef, $plan) = lockbench('verify', '-s', $file, '--plan');
like($plan, qr/explore\+rate .*claims rate: a crowd/s, 'verify explores a limit of 1, and puts a crowd at a backlog');
lockbench(@few, '--opt', 'take=full', '--keep-history', '-o', scratch() . '/full');
my ($recorded) = split /\n/, `find @{[scratch()]}/full -name '*.lbh'`;
my ($status, $out) = lockbench('check', $recorded);
is($status, 1, 'the history is judged alike');
like($out, qr/rate.*5\s+items\s+were\s+begun\s+between\s.*at\s+most\s+4\s+may\s+be\s+in\s+300\s+ms/s, '... in words') or diag $out;
for my $format ('jsonl', 'edn') {
    my (undef, $exported) = lockbench('check', '--export', $format, $recorded);
    is((lockbench('check', spew("full.$format", $exported)))[0], 1, "... and in $format");
}
my $text = slurp($file);
for my $case (
    ['4 / 300', qr/rate: write "N \/ T"/],
    ['4', qr/rate: write "N \/ T"/],
    ['0 / 1s', qr/rate: write "N \/ T"/],
    ['take / 1s', qr/rate: write "N \/ T"/],
    [undef, qr/claims rate, and does not state how many items/],
    ['4 / 300ms', undef],
    ['most / 1 min', undef],
    ) {
    my ($rate, $message) = @$case;
    (my $changed = $text) =~ s/^-- rate: .*\n/defined $rate ? "-- rate: $rate\n" : ''/me;
    my ($got, undef, $err) = lockbench('verify', '--plan', '-s', spew('rated.sql', $changed));
    is($got, $message ? 2 : 0, '-- rate: ' . ($rate // 'missing')) or diag $err;
    like($err, $message, '... in one line') if $message;
}
done_testing();
