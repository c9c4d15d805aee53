#!/usr/bin/env perl
# What --format json prints is what docs/result.schema.json describes.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Schema;
use Test::More;

my $source = $ENV{LB_SOURCE} // "$FindBin::Bin/../..";
my $schema = decode_json(slurp("$source/docs/result.schema.json"));
sub check { return check_until(sub { return 1 }, @_) }

sub check_until
{
    my ($is_there, $name, @args) = @_;
    my $is_told = sub { return $is_there->(eval { decode_json($_[1]) } // {}) };
    my (undef, $out, $err) = until_shown($is_told, @args, '--quiet', '--format', 'json');
    my $json = eval { decode_json($out) };
    ok($json, "$name: is JSON") or return diag $err;
    is(join("\n", mistakes($json, $schema, '')), '', "$name: as the schema says");
    return $json;
}

my @quick = ('--duration', '100ms', '--warmup', '0');
my $json = check('two strategies', 'compare', '-s', 'pthread-mutex,none', @quick, '--repeat', '2', '--costs');
check('sqlite', 'compare', '--repeat', '1', '-s', good_lock() . ',' . open_door(), @quick, '--workers', '1,2');
check('a queue', 'run', '-s', good_queue(), '--backlog', '50');
check('a proof', 'run', '-s', 'skip-locked', '-S', 'chunked-update', '--rows', '1k', '--backlog', '10');
check('an open loop', 'run', '-s', good_lock(), @quick, '--rate', '200/s');
my @plan = ('plan', '-s', 'none,pthread-mutex', '--workers', '1,2,3,4,5,6', '--duration', '40ms', '--warmup', '0',
    '--repeat', '1', '--demand', '200/s');
check('a plan with a bound', @plan, '--slo', 'p50<2s');
# Without one the generator, which may be late on a busy machine, is not needed.
my $plan = check_until(sub { return @{ $_[0]{choice} // [] } > 0 }, 'a plan', @plan); # a busy machine may leave no curve
is(scalar @{$plan->{plans}}, 2, 'a plan for each strategy');
isnt(scalar @{$plan->{choice}}, 0, 'and which to take');
check('a plan without a fit', 'plan', '-s', 'pthread-mutex', '--workers', '1,2,3,4,5,6', '--hold', '0', '--duration', '1ms',
    '--warmup', '0', '--think', '1s', '--repeat', '1', '--slo', 'p99<1ms');
check('no record', 'run', '-s', 'pthread-mutex', @quick, '--no-record');
my ($uri) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
SKIP: {
    skip 'LB_TEST_URIS names no PostgreSQL', 2 if !defined $uri;
    check('postgres', 'compare', '--repeat', '1', '-s', 'row-lock', '-d', $uri, @quick, '--costs');
}

# The validator sees what is wrong.
isnt(join("\n", mistakes({%$json, seed => 'x'}, $schema, '')), '', 'a text for a number is found');
my %less = %$json;
delete $less{cells};
like(join("\n", mistakes(\%less, $schema, '')), qr/no cells/, 'a missing key is found');
$json->{cells}[0]{verdict} = 'fine';
like(join("\n", mistakes($json, $schema, '')), qr/\.cells\[0\]\.verdict: "fine"/, 'a wrong word is found');
done_testing();
