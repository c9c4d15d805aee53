/* Runs that alternate, compared pair by pair: see stats.h.
 *
 * Two runs that follow each other meet the same minute of the machine, and on a machine that others
 * use the minute is most of the noise. If both sides are alike, and chance decided the order within
 * each pair, either value of a pair could as well have been the other's: each of the 2^n ways to
 * swap pairs was equally likely. That gives the exact distribution of any statistic under any
 * noise, also noise that affects both values of a pair.
 *
 * The statistic is Mann and Whitney's: the ranks among all 2n values, those of b less those of a.
 * In a slow minute both of a pair rank low, and their difference is small; a single run that was
 * disturbed moves its own rank alone. Wilcoxon's signed ranks of the n ratios would let the minutes
 * cancel as well, but give their largest weights to just the pairs with a disturbed run: where one
 * run in four is disturbed they find half of what this finds (tests/unit/stats_compare.c).
 *
 * Permutation within blocks: Pitman, "Significance tests which may be applied to samples from any
 * populations" (1937); Lehmann, Nonparametrics, 3.3.
 */
#include "distribution.h"
#include "memory.h"
#include "order.h"
#include "stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct ranked {
    double value;
    size_t pair;
    bool is_b;
};

/* ret[i]: the doubled rank of b[i] less that of a[i] times factor, midranks for ties. pool: room
 * for 2n. */
static void rank_differences(const double *a, const double *b, size_t n, double factor,
                             struct ranked *pool, long *ret)
{
    for (size_t i = 0; i < n; i++) {
        pool[2 * i] = (struct ranked){a[i] * factor, i, false};
        pool[2 * i + 1] = (struct ranked){b[i], i, true};
        ret[i] = 0;
    }
    qsort(pool, 2 * n, sizeof *pool, lb_order_double);
    for (size_t first = 0, end = 0; first < 2 * n; first = end) {
        while (end < 2 * n && pool[end].value <= pool[first].value)
            end++;
        for (size_t i = first; i < end; i++) /* first rank + last rank of those that are equal */
            ret[pool[i].pair] += (pool[i].is_b ? 1 : -1) * (long)(first + end + 1);
    }
}

/* P(|sum of the differences with random signs| >= |observed sum|). */
static double exact_p(const long *d, size_t n)
{
    size_t all = 0, reached = 0, step = 2;
    long observed = 0;
    for (size_t i = 0; i < n; i++) {
        all += (size_t)labs(d[i]);
        observed += d[i];
        step = d[i] % 2 != 0 ? 1 : step; /* without ties all are even, and so are their sums */
    }
    /* share[s]: the pairs that count as above zero have sizes of the sum s; the sum with signs is
     * 2s - all. */
    double *share = lb_calloc(all + 1, sizeof *share), p = 0;
    share[0] = 1;
    for (size_t i = 0; i < n; i++) {
        size_t size = (size_t)labs(d[i]);
        reached += size;
        for (size_t s = reached - reached % step;; s -= step) {
            share[s] = (share[s] + (s >= size ? share[s - size] : 0)) / 2;
            if (s < step)
                break;
        }
    }
    for (size_t s = 0; s <= all; s += step)
        if (labs(2 * (long)s - (long)all) >= labs(observed))
            p += share[s];
    free(share);
    return fmin(1, p);
}

static double normal_p(const long *d, size_t n)
{
    double observed = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        observed += (double)d[i];
        squares += (double)d[i] * (double)d[i];
    }
    return squares > 0 ? fmin(1, 2 * lb_normal_cdf(-fabs(observed) / sqrt(squares))) : 1;
}

/* The pairs, and room for values derived from them. */
struct work {
    const double *a, *b;
    size_t n;
    struct ranked *pool;
    long *differences;
};

/* Is b distributed as a times factor? */
static double p_of(struct work *w, double factor)
{
    rank_differences(w->a, w->b, w->n, factor, w->pool, w->differences);
    return w->n <= LB_STATS_EXACT_MAX ? exact_p(w->differences, w->n)
                                      : normal_p(w->differences, w->n);
}

/* The end of the factors that the test does not refuse, from ratio on, downwards or upwards: p
 * falls with the distance. */
static double bound(struct work *w, double ratio, double level, double direction)
{
    enum { STEPS = 32 };
    const double farthest = 30;
    double near = 0, far = 0.1; /* of the logarithm */
    double p = p_of(w, ratio * exp(direction * far));
    while (p > 1 - level && far < farthest) {
        near = far;
        far = fmin(3 * far, farthest);
        p = p_of(w, ratio * exp(direction * far));
    }
    if (p > 1 - level)
        return direction < 0 ? 0 : (double)INFINITY;
    for (int i = 0; i < STEPS; i++) {
        double middle = (near + far) / 2;
        p = p_of(w, ratio * exp(direction * middle));
        *(p > 1 - level ? &near : &far) = middle;
    }
    return ratio * exp(direction * far);
}

struct lb_paired lb_stats_pairs(const double *a, const double *b, size_t n, double ratio,
                                double level)
{
    assert(n > 0);
    struct work w = {a, b, n, lb_malloc(2 * n * sizeof *w.pool),
                     lb_malloc(n * sizeof *w.differences)};
    struct lb_paired result = {.n = n, .p = p_of(&w, 1), .interval = {0, (double)INFINITY, level}};
    if (ratio > 0 && isfinite(ratio)) {
        result.interval.low = bound(&w, ratio, level, -1);
        result.interval.high = bound(&w, ratio, level, 1);
    }
    free(w.pool);
    free(w.differences);
    return result;
}

/* ---- which runs belong together ---- */

struct placed {
    int64_t start_ms;
    double value;
    bool is_new;
};

bool lb_stats_pair(const struct lb_runs *base, const struct lb_runs *new, double *ret_base,
                   double *ret_new)
{
    size_t n = base->n;
    if (base->start_ms == NULL || new->start_ms == NULL || n != new->n)
        return false;
    struct placed *runs = lb_malloc(2 * n * sizeof *runs);
    for (size_t i = 0; i < n; i++) {
        runs[2 * i] = (struct placed){base->start_ms[i], base->values[i], false};
        runs[2 * i + 1] = (struct placed){new->start_ms[i], new->values[i], true};
    }
    qsort(runs, 2 * n, sizeof *runs, lb_order_i64);
    bool alternate = true;
    for (size_t i = 0; i < n && alternate; i++) {
        const struct placed *first = &runs[2 * i], *second = first + 1;
        alternate = first->is_new != second->is_new && first->start_ms < second->start_ms &&
                    (i == 0 || first[-1].start_ms < first->start_ms);
        ret_base[i] = first->is_new ? second->value : first->value;
        ret_new[i] = first->is_new ? first->value : second->value;
    }
    free(runs);
    return alternate;
}
