/* Percentile bootstrap of a ratio of medians: see stats.h.
 *
 * Each sample is drawn again with replacement, its median taken, the ratio noted; the interval is
 * the middle of these ratios. Percentile and not BCa: the acceleration of BCa comes from the
 * jackknife, which is inconsistent for a median (Efron and Tibshirani, An Introduction to the
 * Bootstrap, 10.6). The medians of resamples are few values when n is small, so the interval is a
 * coarse one there.
 */
#include "random.h"
#include "stats.h"

#include <assert.h>
#include <stdlib.h>

static double resampled_median(const double *sorted, size_t n, struct lb_random *random,
                               double *scratch)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = sorted[lb_random_below(random, n)];
    lb_stats_sort(scratch, n);
    return lb_stats_quantile(scratch, n, 0.5);
}

int lb_stats_ratio_bootstrap(const double *sorted_a, size_t na, const double *sorted_b, size_t nb,
                             double level, size_t n_resamples, uint64_t seed,
                             struct lb_estimate *ret, struct lb_error *err)
{
    assert(na > 0 && nb > 0 && n_resamples > 1);
    assert(sorted_a[0] > 0 && sorted_b[0] > 0);
    double *ratios = malloc((n_resamples + (na > nb ? na : nb)) * sizeof *ratios);
    if (ratios == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory for %zu resamples", n_resamples);
    double *scratch = ratios + n_resamples;
    struct lb_random random;
    lb_random_init(&random, seed, 0);
    for (size_t i = 0; i < n_resamples; i++) {
        double a = resampled_median(sorted_a, na, &random, scratch);
        ratios[i] = resampled_median(sorted_b, nb, &random, scratch) / a;
    }
    lb_stats_sort(ratios, n_resamples);
    ret->value = lb_stats_quantile(sorted_b, nb, 0.5) / lb_stats_quantile(sorted_a, na, 0.5);
    ret->interval =
        (struct lb_confidence){lb_stats_quantile(ratios, n_resamples, (1 - level) / 2),
                               lb_stats_quantile(ratios, n_resamples, (1 + level) / 2), level};
    free(ratios);
    return 0;
}
