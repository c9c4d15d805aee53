#!/usr/bin/env perl
# --price of compare: a column of the answer, JSON, and the page; its sums. tests/cli/plan.t has that of plan.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my @compare = ('compare', '-s', 'pthread-mutex,none', '--workers', '4', '--repeat', '3', '--warmup', '0', '--duration', '50ms', '-q');
my $dir = scratch() . '/stored';
my ($status, $out, $err) = lockbench(@compare, '--price', '0.40/h,worker=0.1/h', '-o', $dir);
like($out, qr/^strategy .*\ba million\b/m, 'a column') or diag $out, $err;
my ($run) = glob "$dir/*/run.json";
my $json = decode_json(slurp($run // "$dir/run.json"));
for my $cell (@{ $json->{cells} }) {
    my $rate = $cell->{summary}{successes_per_s};
    cmp_ok($rate, '>', 0, "$cell->{strategy}: it works");
    cmp_ok(abs($cell->{summary}{price_per_million} / (0.8 / ($rate * 3600) * 1e6) - 1), '<', 1e-6,
        "$cell->{strategy}: an hour of the server and of four workers, for a million");
    my $shown = sprintf '%.3g', $cell->{summary}{price_per_million};
    like($out, qr/^\Q$cell->{strategy}\E .* \Q$shown\E /m, '... as in the text');
}
($status, $out) = lockbench(@compare, '--format', 'json');
ok(!exists decode_json($out)->{cells}[0]{summary}{price_per_million}, 'no price, no sum: JSON');
($status, $out) = lockbench(@compare);
unlike($out, qr/a million/, '... and text');
for my $wrong ('0.4', 'x/h', '0/h', '-1/h', '/h', '0.4/h,', '0.4/h,worker=x', '0.4/h,client=1/h', '0.4/h,worker=1/h,worker=1/h', '1e999/h', 'nan/h', '') {
    ($status, $out, $err) = lockbench(@compare, '--price', $wrong);
    is($status, 2, "'$wrong': usage");
    is($err, "lockbench: option --price: '$wrong' is no price; an hour of the server, and of a worker if it costs extra: 0.40/h,worker=0.05/h\n", '... in one line');
}
done_testing();
