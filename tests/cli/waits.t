#!/usr/bin/env perl
# A correct lock is not accused of the waits that the scenario itself asks for.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use JSON::PP;
use Test::More;

# The one cell of a run of pthread-mutex in mutex-hot.
sub cell
{
    my ($status, $out, $err) =
        lockbench('run', '-s', 'pthread-mutex', '-S', 'mutex-hot', '--warmup', '0', '--quiet', '--format', 'json', @_);
    diag "@_: exit $status: $err" if $status == 1;
    return ($status, decode_json($out)->{cells}[0]);
}

# Seven holds of others are longer than the bound.
my ($status, $cell) = cell('--hold', '20ms', '--duration', '400ms', '--progress-bound', '40ms');
isnt($status, 1, 'a bound that the holds of others exceed: nothing is violated');
is($cell->{guarantees}{progress}{verdict}, 'not tested', '... and nothing is held');
like($cell->{guarantees}{progress}{reason}, qr/\Athe bound is 40(?:\.0)? ms, but holds, polls and faults of the scenario may keep a worker waiting for [\d.]+ s: use a longer --progress-bound\z/,
    '... with both times');

# The bound of a built-in scenario is computed, and shown.
($status, $cell) = cell('--hold', '100ms', '--duration', '100ms');
cmp_ok($cell->{config}{progress_bound_ns}, '>', 8 * 100e6, 'the bound of mutex-hot grows with --hold');
is($cell->{guarantees}{progress}{verdict}, 'not tested', 'a run that is shorter than the bound');
like($cell->{guarantees}{progress}{reason}, qr/\Athe bound is [\d.]+ s, and the run was shorter: /, '... is said to be shorter');
unlike($cell->{reproduce}, qr/progress-bound/, '... and its command computes the bound again');
($status, $cell) = cell('--fault', 'pause', '--fault-length', '10ms', '--fault-interval', '30ms', '--duration', '100ms', '--progress-bound', '50ms');
is($cell->{guarantees}{progress}{verdict}, 'not tested', 'pauses are a part of the demand');
done_testing();
