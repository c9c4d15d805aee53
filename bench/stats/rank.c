/* Ranks of two samples: Mann-Whitney test and Hodges-Lehmann ratio, see stats.h.
 *
 * Exact: if both samples come from one distribution, every choice of na of the N pooled values was
 * equally likely to be called a. With midranks for ties (doubled, to stay integers) a table
 * ways[k][s] counts the choices of k values whose doubled ranks sum to s, one value at a time, as
 * in counting change. That is the permutation distribution given the ties, not an approximation;
 * C(64,32) fits 64 bits, which bounds N.
 *
 * Mann and Whitney, "On a test of whether one of two random variables is stochastically larger than
 * the other" (1947); Hollander and Wolfe, Nonparametric Statistical Methods, 4.1-4.3.
 */
#include "distribution.h"
#include "memory.h"
#include "stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Doubled midranks of the pooled values, ascending, and what both tests need of them. */
struct pooled {
    unsigned *doubled; /* na + nb */
    double sum_b;      /* doubled rank sum of b */
    double ties;       /* sum of t^3 - t over groups of equal values */
};

static void rank_pooled(const double *a, size_t na, const double *b, size_t nb, struct pooled *pool)
{
    size_t i = 0, j = 0, rank = 0;
    pool->sum_b = 0;
    pool->ties = 0;
    while (i < na || j < nb) {
        double value = j >= nb || (i < na && a[i] <= b[j]) ? a[i] : b[j];
        size_t from_a = i, from_b = j;
        while (i < na && a[i] <= value)
            i++;
        while (j < nb && b[j] <= value)
            j++;
        size_t t = (i - from_a) + (j - from_b);
        unsigned doubled = (unsigned)(2 * rank + t + 1); /* first rank + last rank */
        for (size_t k = 0; k < t; k++)
            pool->doubled[rank + k] = doubled;
        pool->sum_b += (double)(j - from_b) * doubled;
        pool->ties += (double)t * (double)t * (double)t - (double)t;
        rank += t;
    }
}

/* ways[s], s in 0..n(n+1): choices of k of the n doubled ranks that sum to s. Caller frees. */
static uint64_t *count_choices(const unsigned *doubled, size_t n, size_t k)
{
    size_t width = n * (n + 1) + 1;
    uint64_t *ways = lb_calloc((k + 1) * width, sizeof *ways);
    ways[0] = 1;
    size_t reached = 0, step = 2; /* reached: largest sum so far */
    for (size_t item = 0; item < n; item++)
        step = doubled[item] % 2 != 0 ? 1 : step; /* without ties all are even, and so are sums */
    for (size_t item = 0; item < n; item++) {
        size_t weight = doubled[item];
        reached += weight;
        size_t most = item + 1 < k ? item + 1 : k;
        for (size_t chosen = most; chosen > 0; chosen--) {
            uint64_t *row = ways + chosen * width, *fewer = row - width;
            for (size_t s = reached; s >= weight; s -= step)
                row[s] += fewer[s - weight];
        }
    }
    for (size_t s = 0; s < width; s++) /* only the last row is wanted */
        ways[s] = ways[k * width + s];
    return ways;
}

/* P(|S - mean| >= |observed - mean|) for the sum S of k doubled ranks. */
static double exact_p(const unsigned *doubled, size_t n, size_t k, double observed)
{
    uint64_t *ways = count_choices(doubled, n, k);
    double mean = (double)k * (double)(n + 1);
    double distance = fabs(observed - mean), extreme = 0, total = 0;
    for (size_t s = 0; s <= n * (n + 1); s++) {
        total += (double)ways[s];
        if (fabs((double)s - mean) >= distance)
            extreme += (double)ways[s];
    }
    free(ways);
    return extreme / total;
}

static double normal_p(double u, double na, double nb, double ties)
{
    double n = na + nb;
    double variance = na * nb / 12 * (n + 1 - ties / (n * (n - 1)));
    double distance = fabs(u - na * nb / 2) - 0.5; /* continuity */
    if (variance <= 0 || distance <= 0)
        return 1;
    return fmin(1, 2 * lb_normal_cdf(-distance / sqrt(variance)));
}

struct lb_mann_whitney lb_stats_mann_whitney(const double *sorted_a, size_t na,
                                             const double *sorted_b, size_t nb)
{
    assert(na > 0 && nb > 0);
    size_t n = na + nb;
    struct pooled pool = {.doubled = lb_calloc(n, sizeof *pool.doubled)};
    rank_pooled(sorted_a, na, sorted_b, nb, &pool);
    struct lb_mann_whitney test = {.exact = n <= LB_STATS_EXACT_MAX};
    test.u = (pool.sum_b - (double)nb * (double)(nb + 1)) / 2;
    if (test.exact) {
        /* The sum of the smaller sample says as much and needs the smaller table. */
        double observed = nb <= na ? pool.sum_b : (double)n * (double)(n + 1) - pool.sum_b;
        test.p = exact_p(pool.doubled, n, nb <= na ? nb : na, observed);
    } else {
        test.p = normal_p(test.u, (double)na, (double)nb, pool.ties);
    }
    free(pool.doubled);
    return test;
}

double lb_stats_least_p(size_t na, size_t nb)
{
    double n = (double)na, m = (double)nb;
    double log_choices = lgamma(n + m + 1) - lgamma(n + 1) - lgamma(m + 1);
    return fmin(1, 2 * exp(-log_choices));
}

size_t lb_stats_runs_needed(size_t n_comparisons, double level)
{
    size_t runs = 2;
    while (lb_stats_least_p(runs, runs) * (double)n_comparisons > 1 - level && runs < 1000)
        runs++;
    return runs;
}

/* How many of the smallest (and of the largest) ratios the interval leaves out, plus one: the
 * largest k with 2 P(U <= k-1) <= 1 - level, at least 1; *ret_coverage is 1 - 2 P(U <= k-1). */
static size_t rank_of_bound(size_t na, size_t nb, double level, double *ret_coverage)
{
    size_t n = na + nb;
    if (n > LB_STATS_EXACT_MAX) {
        double product = (double)na * (double)nb;
        double z = lb_normal_quantile((1 + level) / 2);
        double k = floor(product / 2 + 0.5 - z * sqrt(product * (double)(n + 1) / 12));
        *ret_coverage = level;
        return k < 1 ? 1 : (size_t)k;
    }
    unsigned doubled[LB_STATS_EXACT_MAX];
    for (size_t i = 0; i < n; i++)
        doubled[i] = (unsigned)(2 * (i + 1));
    size_t few = na < nb ? na : nb;
    uint64_t *ways = count_choices(doubled, n, few);
    double total = 0, missed = 0;
    for (size_t s = 0; s <= n * (n + 1); s++)
        total += (double)ways[s];
    size_t least = few * (few + 1), k = 0; /* doubled sum at U = 0 */
    do {
        missed += (double)ways[least + 2 * k] / total;
        k++;
    } while (2 * (missed + (double)ways[least + 2 * k] / total) <= 1 - level);
    free(ways);
    *ret_coverage = fmax(0, 1 - 2 * missed);
    return k;
}

static double ratio_of(double b, double a)
{
    if (a > 0)
        return b / a;
    return b > 0 ? (double)INFINITY : 1;
}

/* Middle of sorted ratios; between two of them geometrically, so that a/b is 1/(b/a). */
static double geometric_median(const double *sorted, size_t n)
{
    double low = sorted[(n - 1) / 2], high = sorted[n / 2];
    return low < high ? sqrt(low) * sqrt(high) : low;
}

struct lb_estimate lb_stats_ratio(const double *sorted_a, size_t na, const double *sorted_b,
                                  size_t nb, double level)
{
    assert(na > 0 && nb > 0);
    double coverage = 0;
    double *ratios = lb_malloc(na * nb * sizeof *ratios);
    size_t k = rank_of_bound(na, nb, level, &coverage);
    for (size_t i = 0; i < na; i++)
        for (size_t j = 0; j < nb; j++)
            ratios[i * nb + j] = ratio_of(sorted_b[j], sorted_a[i]);
    lb_stats_sort(ratios, na * nb);
    struct lb_estimate ratio = {geometric_median(ratios, na * nb),
                                {ratios[k - 1], ratios[na * nb - k], coverage}};
    free(ratios);
    return ratio;
}
