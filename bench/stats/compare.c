/* Verdicts over a family of comparisons: see stats.h.
 *
 * Two questions are kept apart. Is there a difference? The rank test, corrected by Holm over all
 * comparisons of the run, so that a large matrix does not cry wolf. Is it large enough to matter?
 * The ratio against the noise band. Faster and slower need both; equivalent needs the whole
 * interval inside of the band, which few or noisy runs cannot give: absence of evidence is
 * inconclusive.
 *
 * The intervals are per comparison, not corrected: they describe a cell, they do not decide.
 */
#include "stats.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ranked {
    double p;
    size_t index;
};

static int by_p(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return (x->p > y->p) - (x->p < y->p);
}

int lb_stats_holm(double *p, size_t n, size_t n_family, struct lb_error *err)
{
    assert(n_family >= n);
    if (n == 0)
        return 0;
    struct ranked *order = malloc(n * sizeof *order);
    if (order == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory for %zu comparisons", n);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct ranked){p[i], i};
    qsort(order, n, sizeof *order, by_p);
    double largest = 0; /* a later one is never more significant than an earlier one */
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fmin(1, order[i].p * (double)(n_family - i)));
        p[order[i].index] = largest;
    }
    free(order);
    return 0;
}

const char *lb_stats_verdict_name(enum lb_stats_verdict verdict)
{
    static const char *const names[] = {[LB_STATS_FASTER] = "faster",
                                        [LB_STATS_SLOWER] = "slower",
                                        [LB_STATS_EQUIVALENT] = "equivalent",
                                        [LB_STATS_INCONCLUSIVE] = "inconclusive"};
    return names[verdict];
}

static bool all_valid(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]) || values[i] < 0)
            return false;
    return true;
}

int lb_stats_compare(const double *base, size_t n_base, const double *new, size_t n_new,
                     const struct lb_compare_options *options, struct lb_comparison *ret,
                     struct lb_error *err)
{
    if (n_base == 0 || n_new == 0)
        return lb_fail(err, LB_E_USAGE, "nothing to compare: %s has no runs",
                       n_base == 0 ? "the baseline" : "the new result");
    if (!all_valid(base, n_base) || !all_valid(new, n_new))
        return lb_fail(err, LB_E_USAGE, "cannot compare values that are negative or not finite");
    double *a = malloc((n_base + n_new) * sizeof *a);
    if (a == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory for %zu values", n_base + n_new);
    double *b = a + n_base;
    memcpy(a, base, n_base * sizeof *a);
    memcpy(b, new, n_new * sizeof *b);
    lb_stats_sort(a, n_base);
    lb_stats_sort(b, n_new);

    struct lb_comparison result = {
        .n_base = n_base, .n_new = n_new, .verdict = LB_STATS_INCONCLUSIVE};
    struct lb_mann_whitney test;
    result.base = lb_stats_median(a, n_base, options->level);
    result.new = lb_stats_median(b, n_new, options->level);
    int rc = lb_stats_ratio(a, n_base, b, n_new, options->level, &result.ratio, err);
    if (rc == 0)
        rc = lb_stats_mann_whitney(a, n_base, b, n_new, &test, err);
    free(a);
    if (rc != 0)
        return rc;
    result.u = test.u;
    result.p = result.p_adjusted = test.p;
    *ret = result;
    return 0;
}

/* Why no difference and no equivalence could be shown. */
static void explain(struct lb_comparison *c, size_t n_family, double level)
{
    if (lb_stats_least_p(c->n_base, c->n_new) * (double)n_family > 1 - level)
        snprintf(c->reason, sizeof c->reason,
                 "%zu and %zu runs cannot show a difference among %zu comparison%s: at least %zu "
                 "runs each are needed",
                 c->n_base, c->n_new, n_family, n_family == 1 ? "" : "s",
                 lb_stats_runs_needed(n_family, level));
    else if (c->p_adjusted <= 1 - level)
        snprintf(c->reason, sizeof c->reason,
                 "there is a difference, but it may lie within the noise band");
    else
        snprintf(c->reason, sizeof c->reason,
                 "no significant difference, and too much noise to call it equivalent");
}

static void decide_one(struct lb_comparison *c, size_t n_family,
                       const struct lb_compare_options *options)
{
    double most = 1 + options->band, least = 1 / most;
    const struct lb_confidence *interval = &c->ratio.interval;
    bool outside = c->ratio.value > most || c->ratio.value < least;
    c->reason[0] = '\0';
    if (c->p_adjusted <= 1 - options->level && outside) {
        bool higher = c->ratio.value > 1;
        c->verdict = higher == options->higher_is_better ? LB_STATS_FASTER : LB_STATS_SLOWER;
    } else if (interval->coverage >= options->level && interval->low >= least &&
               interval->high <= most) {
        c->verdict = LB_STATS_EQUIVALENT;
    } else {
        c->verdict = LB_STATS_INCONCLUSIVE;
        explain(c, n_family, options->level);
    }
}

int lb_stats_decide(struct lb_comparison *comparisons, size_t n,
                    const struct lb_compare_options *options, struct lb_error *err)
{
    if (n == 0)
        return 0;
    double *p = malloc(n * sizeof *p);
    if (p == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory for %zu comparisons", n);
    for (size_t i = 0; i < n; i++)
        p[i] = comparisons[i].p;
    size_t n_family = n + options->n_implied;
    int rc = lb_stats_holm(p, n, n_family, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        comparisons[i].p_adjusted = p[i];
        decide_one(&comparisons[i], n_family, options);
    }
    free(p);
    return rc;
}
