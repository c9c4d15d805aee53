#!/usr/bin/env perl
# compare within a budget: runs are shorter than their scenario says, except the first one of a
# strategy with a verdict that depends on the length, and lengths given by the user.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $plain = good_lock();
(my $text = slurp($plain)) =~ s/good.lock/fair_lock/g;
$text =~ s/^-- strategy: .*$/-- strategy: fair-lock/m;
$text =~ s/^-- claims: .*$/-- claims: exclusive, progress/m or die 'no claims';
my @compare = ('compare', '-s', "$plain," . spew('fair-lock.sql', $text), '-S', 'mutex-hot', '--workers', '2', '--budget', '1s',
    '--quiet', '--format', 'json');

sub lengths
{
    my ($status, $out, $err) = lockbench(@compare, @_);
    my $json = decode_json($out);
    return map { $_->{strategy} => [map { $_->{duration_ns} / 1e6 } @{$_->{runs}}] } @{$json->{cells}};
}

my %ms = lengths();
is($ms{'good-lock'}[0], 600, 'a run is short');
is($ms{'fair-lock'}[0], 2000, '... but the first of who claims progress, whose bound is longer than that');
for my $name (sort keys %ms) {
    cmp_ok(scalar @{$ms{$name}}, '>=', 3, "$name: three rounds at least");
    # Longer than 600 ms only where a machine is so slow that few succeed.
    is((grep { $_ < 600 || $_ > 2000 } @{$ms{$name}}), 0, '... none shorter than that, none longer than the scenario says');
}
%ms = lengths('--duration', '601ms', '--warmup', '101ms', '--no-record');
is((grep { $_ != 601 } map { @$_ } values %ms), 0, 'a length that is given is kept');

done_testing();
