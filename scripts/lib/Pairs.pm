# Evaluates pairs of runs: the ratio of the two sides, and its 95 % interval.
package Pairs;
use strict;
use warnings;
use Exporter qw(import);

our @EXPORT_OK = qw(median ratio ratio_text);

sub median
{
    my @sorted = sort { $a <=> $b } @_;
    my $n = @sorted;
    return $n % 2 ? $sorted[$n / 2] : ($sorted[$n / 2 - 1] + $sorted[$n / 2]) / 2;
}

# The Hodges-Lehmann estimate of the pairs' ratios, and its interval: the median of the means of all two values, and the
# k-th smallest and largest of them, k by the normal approximation of the signed-rank statistic (Hollander, Wolfe, Chicken,
# "Nonparametric Statistical Methods", 3rd ed., 3.2 and 3.3), on logarithms. Below six pairs there is no such interval, and
# the estimate is all that comes back.
sub ratio
{
    my @logs = map { log } @_;
    my $n = @logs;
    my @means = sort { $a <=> $b } map { my $i = $_; map { ($logs[$i] + $logs[$_]) / 2 } $i .. $n - 1 } 0 .. $n - 1;
    my $k = int($n * ($n + 1) / 4 - 1.96 * sqrt($n * ($n + 1) * (2 * $n + 1) / 24));
    return map { exp } median(@means), $k > 0 ? ($means[$k - 1], $means[@means - $k]) : ();
}

sub ratio_text
{
    my ($ratio, @interval) = @_;
    return sprintf '%.3f (%s)', $ratio, @interval ? sprintf('%.3f to %.3f', @interval) : 'too few pairs';
}

1;
