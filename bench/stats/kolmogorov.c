/* Kolmogorov-Smirnov tests: see stats.h. */
#include "distribution.h"
#include "stats.h"

#include <assert.h>
#include <math.h>

/* Largest distance between the empirical distribution function and the one whose value at the i-th
 * value is f(i): it is attained at a step, on one of its two sides. */
static double step_distance(double f, size_t i, size_t n)
{
    return fmax((double)(i + 1) / (double)n - f, f - (double)i / (double)n);
}

static int judge(double d, size_t n, struct lb_ks *ret, struct lb_error *err)
{
    double cdf = lb_kolmogorov_cdf(d, (unsigned)n);
    if (cdf < 0)
        return lb_fail(err, LB_E_MEMORY, "out of memory for a distribution test of %zu values", n);
    *ret = (struct lb_ks){.d = d, .p = 1 - cdf};
    return 0;
}

int lb_stats_ks_exponential(const double *sorted, size_t n, double mean, struct lb_ks *ret,
                            struct lb_error *err)
{
    assert(n > 0 && mean > 0);
    double d = 0;
    for (size_t i = 0; i < n; i++)
        d = fmax(d, step_distance(sorted[i] > 0 ? -expm1(-sorted[i] / mean) : 0, i, n));
    return judge(d, n, ret, err);
}

int lb_stats_ks_uniform(const double *sorted, size_t n, struct lb_ks *ret, struct lb_error *err)
{
    assert(n > 0);
    double d = 0;
    for (size_t i = 0; i < n; i++)
        d = fmax(d, step_distance(fmin(1, fmax(0, sorted[i])), i, n));
    return judge(d, n, ret, err);
}
