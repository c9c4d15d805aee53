/* Order statistics and fairness: see stats.h.
 *
 * The median's interval: the number of values below the true median is binomial(n, 1/2) whatever
 * their distribution, so [x_(k), x_(n+1-k)] misses it with probability 2 P(Bin(n, 1/2) < k). The
 * largest k that keeps this within 1 - level gives the narrowest symmetric interval.
 */
#include "distribution.h"
#include "order.h"
#include "stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

void lb_stats_sort(double *values, size_t n)
{
    if (n > 1)
        qsort(values, n, sizeof *values, lb_order_double);
}

double lb_stats_mean(const double *values, size_t n)
{
    assert(n > 0);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

double lb_stats_quantile(const double *sorted, size_t n, double q)
{
    assert(n > 0 && q >= 0 && q <= 1);
    double position = q * (double)(n - 1);
    size_t below = (size_t)position;
    if (below + 1 >= n)
        return sorted[n - 1];
    double fraction = position - (double)below;
    /* Not x + f (y - x): that is not a number when a neighbour is infinite. */
    return fraction > 0 ? sorted[below] * (1 - fraction) + sorted[below + 1] * fraction
                        : sorted[below];
}

struct lb_estimate lb_stats_median(const double *sorted, size_t n, double level)
{
    assert(n > 0);
    double log_ways = -(double)n * log(2); /* logarithm of P(Bin = i), from i = 0 */
    double missed = exp(log_ways);         /* P(Bin <= k - 1) for k = 1 */
    size_t k = 1;
    for (size_t i = 1; i < n / 2; i++) {
        log_ways += log((double)(n - i + 1) / (double)i);
        double next = missed + exp(log_ways);
        if (2 * next > 1 - level)
            break;
        missed = next;
        k = i + 1;
    }
    return (struct lb_estimate){
        .value = lb_stats_quantile(sorted, n, 0.5),
        .interval = {.low = sorted[k - 1], .high = sorted[n - k], .coverage = 1 - 2 * missed}};
}

struct lb_estimate lb_stats_ratio_of_sums(const double *parts, const double *of, size_t n,
                                          double level)
{
    double sum = 0, of_sum = 0, squares = 0, half = INFINITY;
    for (size_t i = 0; i < n; i++) {
        sum += parts[i];
        of_sum += of[i];
    }
    const double ratio = of_sum > 0 ? sum / of_sum : NAN;
    for (size_t i = 0; i < n; i++)
        squares += (parts[i] - ratio * of[i]) * (parts[i] - ratio * of[i]);
    if (n >= 3)
        half = lb_t_quantile(1 - (1 - level) / 2, (double)(n - 1)) *
               sqrt(squares * (double)n / (double)(n - 1)) / of_sum;
    return (struct lb_estimate){
        .value = ratio,
        .interval = {.low = fmax(0, ratio - half), .high = ratio + half, .coverage = level}};
}
