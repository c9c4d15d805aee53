/* Straight line through a run's intervals: is it in a steady state? See stats.h.
 *
 * Least squares; the slope's interval by Student's t. Residuals that follow each other (r1 > 0)
 * carry less information than independent ones: the error is widened by sqrt((1+r1)/(1-r1)) and the
 * degrees of freedom shrink with it, after Santer et al., "Statistical significance of trends and
 * trend differences" (Journal of Geophysical Research 105, 2000). Limit: one line; a run that rises
 * and then falls by as much is called steady.
 */
#include "distribution.h"
#include "stats.h"

#include <math.h>

static double residual(const struct lb_trend *t, const double *x, const double *y, size_t i)
{
    return y[i] - t->intercept - t->slope * x[i];
}

int lb_stats_trend(const double *x, const double *y, size_t n, double level, struct lb_trend *ret)
{
    if (n < 4)
        return -1;
    double mean_x = lb_stats_mean(x, n), mean_y = lb_stats_mean(y, n), xx = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    if (!(xx > 0) || !(mean_y > 0))
        return -1;
    struct lb_trend t = {.slope = xy / xx};
    t.intercept = mean_y - t.slope * mean_x;

    double squares = 0, neighbours = 0;
    for (size_t i = 0; i < n; i++) {
        double r = residual(&t, x, y, i);
        squares += r * r;
        if (i > 0)
            neighbours += r * residual(&t, x, y, i - 1);
    }
    t.slope_error = sqrt(squares / (double)(n - 2) / xx);
    t.autocorrelation = squares > 0 ? neighbours / squares : 0;
    /* Capped: at 0.9 the interval is already 4.4 times as wide, and an estimate from few points
     * must not make it infinite. */
    double r1 = fmin(fmax(t.autocorrelation, 0), 0.9);
    double inflation = sqrt((1 + r1) / (1 - r1));
    double df = fmax((double)n * (1 - r1) / (1 + r1) - 2, 1);
    double half = lb_t_quantile((1 + level) / 2, df) * t.slope_error * inflation;
    double scale = (x[n - 1] - x[0]) / mean_y;
    t.change = t.slope * scale;
    t.change_interval =
        (struct lb_confidence){t.change - half * scale, t.change + half * scale, level};
    *ret = t;
    return 0;
}

enum lb_steady lb_stats_steady(const struct lb_trend *trend, double tolerance)
{
    const struct lb_confidence *interval = &trend->change_interval;
    if (interval->low >= -tolerance && interval->high <= tolerance)
        return LB_STEADY;
    bool significant = interval->low > 0 || interval->high < 0;
    return significant && fabs(trend->change) > tolerance ? LB_DRIFTING : LB_UNCLEAR;
}
