#!/usr/bin/env perl
# The periodic job: one run in each period, and a dead node's run is picked up. The published form
# is shown to never run, and to run twice if the nodes' clocks differ; its safe twin does not. On
# SQLite always, on the servers in LB_TEST_URIS as far as they are there.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my %engine = engine_uris();
my @published = ('-s', 'lease-update', '--opt', 'first_run=now');
my @safe = ('-s', 'lease-update-safe');

sub begin
{
    my ($engine, @args) = @_;
    return start('run', '-S', 'periodic-job', '-d', $engine{$engine}, '--duration', '8s', '--format', 'json',
        '--quiet', '--seed', $ENV{LB_TEST_SEED} // 1, @args);
}

# Exit status, verdict and text of the proof.
sub proof
{
    my ($status, $out, $err) = finish($_[0]);
    my $proof = eval { decode_json($out)->{cells}[0]{runs}[0]{proof} } or diag($err);
    return ($status, $proof->{verdict} // '', $proof->{text} // '');
}

for my $engine (sort keys %engine) {
    my %run = (
        safe => begin($engine, @safe),
        skewed => begin($engine, @safe, '--skew', '100ms'),
        killed => begin($engine, @safe, '--fault', 'kill', '--fault-interval', '300ms'),
        published => begin($engine, '-s', 'lease-update'),
        clocks => begin($engine, @published, '--skew', '100ms'),
        one_clock => begin($engine, @published));
    for my $name (qw(safe skewed one_clock)) {
        my ($status, $verdict, $text) = proof($run{$name});
        is($status, 0, "$name on $engine succeeds");
        is($verdict, 'held', "$name on $engine: one run in each period") or diag($text);
        like($text, qr/ ([2-9]|[1-9]\d) runs .* 0 times twice in one period, 0 periods missed(?:; \d+ nodes outlived .*)?$/, "$name on $engine: counted");
    }
    my ($status, $verdict, $text) = proof($run{killed});
    is($verdict, 'held', "killed nodes on $engine: one run in each period") or diag($text);
    my ($died, $picked_up) = $text =~ /(\d+) nodes died in their run, (\d+) of these runs were picked up/;
    cmp_ok($died // 0, '>', 0, "killed nodes on $engine: some died");
    cmp_ok($picked_up // 0, '>=', ($died // 9) - 1, "killed nodes on $engine: their runs were picked up");

    ($status, $verdict, $text) = proof($run{published});
    is($status, 1, "as published on $engine fails");
    is($verdict, 'violated', "as published on $engine: violated");
    like($text, qr/: 0 runs .* [1-9]\d* periods missed; at .* had been due for a period/, "as published on $engine: never runs");

    ($status, $verdict, $text) = proof($run{clocks});
    is($status, 1, "clocks that differ on $engine fail");
    is($verdict, 'violated', "clocks that differ on $engine: violated");
    like($text, qr/ [1-9]\d* times twice in one period.*; worker \d+ ran it at .*, and worker \d+ at /,
        "clocks that differ on $engine: two runs in one period");
}

# A lock without a schedule of its own is no answer to the question.
my ($status, undef, $err) = lockbench('run', '-s', good_lock(), '-S', 'periodic-job');
is($status, 2, 'a lock without a period is refused');
like($err, qr/knows no period/, 'and why');

done_testing();
