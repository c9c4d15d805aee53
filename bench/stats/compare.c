/* Verdicts over a family of comparisons: see stats.h.
 *
 * Two questions are kept apart. Is there a difference? A rank test, corrected by Holm over all
 * comparisons of the run, so that a large matrix does not cry wolf. Is it large enough to matter?
 * The ratio against the noise band. Faster and slower need both; equivalent needs the whole
 * interval inside of the band, which few or noisy runs cannot give: absence of evidence is
 * inconclusive.
 *
 * The intervals are per comparison, not corrected: they describe a cell, they do not decide.
 */
#include "memory.h"
#include "order.h"
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

void lb_stats_holm(double *p, size_t n, size_t n_family)
{
    assert(n_family >= n);
    struct ranked *order = lb_malloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct ranked){p[i], i};
    qsort(order, n, sizeof *order, lb_order_double);
    double largest = 0; /* a later one is never more significant than an earlier one */
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fmin(1, order[i].p * (double)(n_family - i)));
        p[order[i].index] = largest;
    }
    free(order);
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

/* a and b: room for the values of either, which stay sorted. */
static void compare_heaps(const struct lb_runs *base, const struct lb_runs *new, double *a,
                          double *b, double level, struct lb_comparison *c)
{
    memcpy(a, base->values, base->n * sizeof *a);
    memcpy(b, new->values, new->n * sizeof *b);
    lb_stats_sort(a, base->n);
    lb_stats_sort(b, new->n);
    c->base = lb_stats_median(a, base->n, level);
    c->new = lb_stats_median(b, new->n, level);
    c->ratio = lb_stats_ratio(a, base->n, b, new->n, level);
    c->p = c->p_adjusted = lb_stats_mann_whitney(a, base->n, b, new->n).p;
}

/* Sum of squares of the logarithms around their mean; NAN if one has no logarithm. */
static double log_squares(const double *values, size_t n)
{
    double mean = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        mean += log(values[i]) / (double)n;
    for (size_t i = 0; i < n; i++)
        sum += (log(values[i]) - mean) * (log(values[i]) - mean);
    return isfinite(sum) ? sum : NAN;
}

static double scatter(const struct lb_runs *base, const struct lb_runs *new)
{
    if (base->n + new->n < 3)
        return NAN;
    return sqrt((log_squares(base->values, base->n) + log_squares(new->values, new->n)) /
                (double)(base->n + new->n - 2));
}

/* Beside what the runs of a pair have in common. */
static double scatter_of_pairs(const double *a, const double *b, size_t n)
{
    double mean = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        mean += log(b[i] / a[i]) / (double)n;
    for (size_t i = 0; i < n; i++)
        sum += (log(b[i] / a[i]) - mean) * (log(b[i] / a[i]) - mean);
    return n > 1 && isfinite(sum) ? sqrt(sum / (double)(n - 1) / 2) : NAN;
}

static void compare_pairs(const struct lb_runs *base, const struct lb_runs *new, double *a,
                          double *b, double level, struct lb_comparison *c)
{
    if (!lb_stats_pair(base, new, a, b))
        return;
    c->pairs_sd = scatter_of_pairs(a, b, base->n);
    c->pairs = lb_stats_pairs(a, b, base->n, c->ratio.value, level);
}

int lb_stats_compare(const struct lb_runs *base, const struct lb_runs *new,
                     const struct lb_compare_options *options, struct lb_comparison *ret,
                     struct lb_error *err)
{
    if (base->n == 0 || new->n == 0)
        return lb_fail(err, LB_E_USAGE, "nothing to compare: %s has no runs",
                       base->n == 0 ? "the baseline" : "the new result");
    if (!all_valid(base->values, base->n) || !all_valid(new->values, new->n))
        return lb_fail(err, LB_E_USAGE, "cannot compare values that are negative or not finite");
    double *a = lb_malloc((base->n + new->n) * sizeof *a);
    *ret = (struct lb_comparison){.n_base = base->n,
                                  .n_new = new->n,
                                  .sd = scatter(base, new),
                                  .verdict = LB_STATS_INCONCLUSIVE};
    compare_heaps(base, new, a, a + base->n, options->level, ret);
    compare_pairs(base, new, a, a + base->n, options->level, ret);
    free(a);
    return 0;
}

/* n pairs can be swapped in 2^n ways, far fewer than there are ways to part 2n runs in two: with
 * few pairs, or many comparisons, they can show nothing, where two heaps still can. */
static void choose_test(struct lb_comparison *c, size_t n_family, double level)
{
    enum { ROOM = 4 }; /* a pair or two may be the other way, and it shows all the same */
    double least_p = exp2(1 - (double)c->pairs.n) * (double)n_family;
    c->is_paired = c->pairs.n > 0 && least_p * ROOM <= 1 - level;
    if (c->is_paired) {
        c->p = c->pairs.p;
        c->ratio.interval = c->pairs.interval;
        c->sd = c->pairs_sd;
    }
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

void lb_stats_decide(struct lb_comparison *comparisons, size_t n,
                     const struct lb_compare_options *options)
{
    double *p = lb_malloc(n * sizeof *p);
    for (size_t i = 0; i < n; i++) {
        choose_test(&comparisons[i], n, options->level);
        p[i] = comparisons[i].p;
    }
    lb_stats_holm(p, n, n);
    for (size_t i = 0; i < n; i++) {
        comparisons[i].p_adjusted = p[i];
        decide_one(&comparisons[i], n, options);
    }
    free(p);
}
