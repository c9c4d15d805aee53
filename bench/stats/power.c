/* What a comparison of two sets of runs can find: see stats.h.
 *
 * A verdict needs two things, and each has its own limit. The difference must be significant: here
 * the normal approximation of the rank tests applies, with an efficiency of 3/pi of a t test for
 * normal noise (Lehmann, Nonparametrics, 2.4); with too few runs no p is small enough, and nothing
 * can be significant. And the ratio must be beyond the band: a true difference of just the band is
 * on either side of it in half of the cases, however many runs there are.
 */
#include "distribution.h"
#include "stats.h"

#include <math.h>

#define POWER      0.8
#define EFFICIENCY 0.955 /* 3/pi */
/* Of the rank sum of pairs, by simulation: ranks are among all runs, and know little of what a
 * minute does to both of a pair. With this, 75 to 85 of 100 are found where minutes scatter one to
 * five times as much as runs (tests/unit/stats_power.c). */
#define EFFICIENCY_PAIRS 0.72

/* Could any values be significant? */
static bool can_show(const struct lb_power_of *of)
{
    double least =
        of->is_paired ? exp2(1 - (double)of->n_base) : lb_stats_least_p(of->n_base, of->n_new);
    return least * (double)of->n_family <= 1 - of->level;
}

static double significant(const struct lb_power_of *of, double *ret_reach)
{
    double a = (double)of->n_base, b = (double)of->n_new;
    double df = of->is_paired ? a - 1 : a + b - 2;
    double efficiency = of->is_paired ? EFFICIENCY_PAIRS : EFFICIENCY;
    double error = of->sd * sqrt((1 / a + 1 / b) / efficiency);
    double alpha = (1 - of->level) / (double)of->n_family;
    *ret_reach = error * lb_t_quantile(POWER, df);
    return error * lb_t_quantile(1 - alpha / 2, df) + *ret_reach;
}

double lb_stats_shows(const struct lb_power_of *of)
{
    double reach;
    if (of->n_base < 2 || of->n_new < 2 || !isfinite(of->sd) || !can_show(of))
        return (double)INFINITY;
    double least = significant(of, &reach);
    return expm1(fmax(least, log1p(of->band) + reach));
}

size_t lb_stats_runs_for(const struct lb_power_of *of)
{
    enum { MOST = 1000 };
    struct lb_power_of asked = *of;
    double reach;
    for (size_t n = 2; n <= MOST && isfinite(of->sd); n++) {
        asked.n_base = asked.n_new = n;
        if (can_show(&asked) && significant(&asked, &reach) <= log1p(of->band))
            return n;
    }
    return 0;
}
