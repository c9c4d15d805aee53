/* Runs that alternate, compared pair by pair: Wilcoxon's signed ranks, see stats.h.
 *
 * Two runs that follow each other meet the same minute of the machine. Their ratio is free of what
 * the minute does to both, which on a machine that is shared is most of the noise: runs compared as
 * two heaps carry all of it. If both are alike, and which of a pair came first was left to chance,
 * the logarithm of each ratio is as likely above zero as below, whatever its size. So every choice
 * of signs was equally likely, and the sum of the ranks of those above zero has a distribution that
 * can be counted: given the ties, and without an assumption on the noise.
 *
 * Wilcoxon, "Individual comparisons by ranking methods" (1945); Hollander and Wolfe, Nonparametric
 * Statistical Methods, 3.1-3.3.
 */
#include "distribution.h"
#include "stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* log(b/a); 0/0 counts as alike. */
static double log_ratio(double a, double b)
{
    if (a > 0 || b > 0)
        return a > 0 && b > 0 ? log(b) - log(a) : (b > 0 ? (double)INFINITY : -(double)INFINITY);
    return 0;
}

static int by_size(const void *x, const void *y)
{
    double a = fabs(*(const double *)x), b = fabs(*(const double *)y);
    return (a > b) - (a < b);
}

/* share[s] of all 2^n choices of signs have the doubled rank sum s, 0 .. n(n+1). Caller frees. */
static double *share_of_sums(const unsigned *doubled, size_t n)
{
    double *share = calloc(n * (n + 1) + 1, sizeof *share);
    if (share == NULL)
        return NULL;
    share[0] = 1;
    size_t reached = 0; /* largest sum so far */
    for (size_t i = 0; i < n; i++) {
        size_t weight = doubled[i];
        reached += weight;
        for (size_t s = reached + 1; s-- > 0;)
            share[s] = (share[s] + (s >= weight ? share[s - weight] : 0)) / 2;
    }
    return share;
}

/* P(|S - mean| >= |observed - mean|) for the doubled rank sum S. Negative: out of memory. */
static double exact_p(const unsigned *doubled, size_t n, double observed)
{
    double *share = share_of_sums(doubled, n);
    if (share == NULL)
        return -1;
    double mean = (double)n * (double)(n + 1) / 2, distance = fabs(observed - mean), p = 0;
    for (size_t s = 0; s <= n * (n + 1); s++)
        if (fabs((double)s - mean) >= distance)
            p += share[s];
    free(share);
    return fmin(1, p);
}

static double normal_p(const unsigned *doubled, size_t n, double observed)
{
    double mean = (double)n * (double)(n + 1) / 2, squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (double)doubled[i] * (double)doubled[i];
    double distance = fabs(observed - mean) - 1; /* continuity; sums are doubled */
    return distance <= 0 ? 1 : fmin(1, 2 * lb_normal_cdf(-distance / sqrt(squares / 4)));
}

/* Of n differences in order of size, without zeros. */
static double signed_rank_p(const double *d, size_t n)
{
    unsigned *doubled = calloc(n + 1, sizeof *doubled);
    double observed = 0;
    if (doubled == NULL)
        return -1;
    for (size_t i = 0; i < n;) {
        size_t first = i;
        while (i < n && fabs(d[i]) <= fabs(d[first]))
            i++;
        for (size_t k = first; k < i; k++) {
            doubled[k] = (unsigned)(first + i + 1); /* first rank + last rank */
            observed += d[k] > 0 ? doubled[k] : 0;
        }
    }
    double p =
        n <= LB_STATS_EXACT_MAX ? exact_p(doubled, n, observed) : normal_p(doubled, n, observed);
    free(doubled);
    return p;
}

/* How many of the smallest (and of the largest) means of two the interval leaves out, plus one: the
 * largest k with 2 P(T <= k-1) <= 1 - level, at least 1. Returns 0 when out of memory. */
static size_t rank_of_bound(size_t n, double level, double *ret_coverage)
{
    if (n > LB_STATS_EXACT_MAX) {
        double m = (double)n, z = lb_normal_quantile((1 + level) / 2);
        double k = floor(m * (m + 1) / 4 + 0.5 - z * sqrt(m * (m + 1) * (2 * m + 1) / 24));
        *ret_coverage = level;
        return k < 1 ? 1 : (size_t)k;
    }
    unsigned doubled[LB_STATS_EXACT_MAX];
    for (size_t i = 0; i < n; i++)
        doubled[i] = (unsigned)(2 * (i + 1));
    double *share = share_of_sums(doubled, n);
    if (share == NULL)
        return 0;
    double missed = share[0];
    size_t k = 1;
    while (2 * (missed + share[2 * k]) <= 1 - level)
        missed += share[2 * k++];
    free(share);
    *ret_coverage = fmax(0, 1 - 2 * missed);
    return k;
}

/* Between nothing and infinitely more lies anything: alike. */
static double mean_of_two(double a, double b)
{
    return isinf(a) && isinf(b) && (a > 0) != (b > 0) ? 0 : (a + b) / 2;
}

/* The median of the means of any two differences (each with itself, too), back from logarithms. */
static int ratio_of_pairs(const double *d, size_t n, double level, struct lb_estimate *ret)
{
    size_t n_means = n * (n + 1) / 2, used = 0;
    double coverage = 0, *means = malloc(n_means * sizeof *means);
    size_t k = means != NULL ? rank_of_bound(n, level, &coverage) : 0;
    if (k == 0) {
        free(means);
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            means[used++] = mean_of_two(d[i], d[j]);
    lb_stats_sort(means, n_means);
    ret->value = exp(mean_of_two(means[(n_means - 1) / 2], means[n_means / 2]));
    ret->interval = (struct lb_confidence){exp(means[k - 1]), exp(means[n_means - k]), coverage};
    free(means);
    return 0;
}

int lb_stats_signed_rank(const double *a, const double *b, size_t n, double level,
                         struct lb_paired *ret, struct lb_error *err)
{
    assert(n > 0);
    struct lb_paired result = {.n = n};
    double *d = malloc(n * sizeof *d);
    if (d == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory for %zu pairs", n);
    for (size_t i = 0; i < n; i++)
        d[i] = log_ratio(a[i], b[i]);
    qsort(d, n, sizeof *d, by_size);
    size_t n_alike = 0;
    while (n_alike < n && !(fabs(d[n_alike]) > 0))
        n_alike++;
    result.p = n_alike < n ? signed_rank_p(d + n_alike, n - n_alike) : 1;
    int rc = result.p < 0 || ratio_of_pairs(d, n, level, &result.ratio) != 0
                 ? lb_fail(err, LB_E_MEMORY, "out of memory for %zu pairs", n)
                 : 0;
    free(d);
    if (rc == 0)
        *ret = result;
    return rc;
}

/* ---- which runs belong together ---- */

struct placed {
    int64_t start_ms;
    double value;
    bool is_new;
};

static int by_start(const void *x, const void *y)
{
    const struct placed *a = x, *b = y;
    return (a->start_ms > b->start_ms) - (a->start_ms < b->start_ms);
}

int lb_stats_pair(const struct lb_runs *base, const struct lb_runs *new, double *ret_base,
                  double *ret_new, bool *ret_alternate, struct lb_error *err)
{
    size_t n = base->n;
    *ret_alternate = false;
    if (base->start_ms == NULL || new->start_ms == NULL || n != new->n)
        return 0;
    struct placed *runs = malloc(2 * n * sizeof *runs);
    if (runs == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory for %zu pairs", n);
    for (size_t i = 0; i < n; i++) {
        runs[2 * i] = (struct placed){base->start_ms[i], base->values[i], false};
        runs[2 * i + 1] = (struct placed){new->start_ms[i], new->values[i], true};
    }
    qsort(runs, 2 * n, sizeof *runs, by_start);
    bool alternate = true;
    for (size_t i = 0; i < n && alternate; i++) {
        const struct placed *first = &runs[2 * i], *second = first + 1;
        alternate = first->is_new != second->is_new && first->start_ms < second->start_ms &&
                    (i == 0 || first[-1].start_ms < first->start_ms);
        ret_base[i] = first->is_new ? second->value : first->value;
        ret_new[i] = first->is_new ? first->value : second->value;
    }
    free(runs);
    *ret_alternate = alternate;
    return 0;
}
