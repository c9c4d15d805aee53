/* Distributions of families of comparisons: see blocks.h.
 *
 * The studentized range of k means (Tukey; tables: Harter 1960, "Tables of range and studentized
 * range") and the largest of k correlated t (Dunnett 1955, 1964) are both an integral over the
 * common mean within one over the estimated standard deviation:
 *
 *   range:   P(Q <= q) = E_s [ k int phi(z) (Phi(z) - Phi(z - q s))^(k-1) dz ]
 *   Dunnett: P(D <= d) = E_s [   int phi(z) (Phi(z + sqrt2 d s) - Phi(z - sqrt2 d s))^k dz ]
 *
 * with s^2 a chi-squared of df degrees of freedom over df. Both are smooth, and the rule of
 * trapezoids over an interval beyond which nothing is left converges fast.
 */
#include "blocks.h"

#include "distribution.h"

#include <math.h>

enum { Z_STEPS = 64, S_STEPS = 56, QUANTILE_STEPS = 60 };
#define Z_REACH 8.0

/* Of a known standard deviation. */
static double range_given(double w, size_t k)
{
    double sum = 0, h = 2 * Z_REACH / Z_STEPS;
    for (int i = 0; i <= Z_STEPS; i++) {
        /* z is the largest of the k; the integrand is nothing where that is far below 0. */
        double z = -Z_REACH + h * i;
        double between = lb_normal_cdf(z) - lb_normal_cdf(z - w);
        sum += exp(-z * z / 2) * pow(between, (double)(k - 1));
    }
    return fmin(1, (double)k * sum * h / sqrt(2 * acos(-1)));
}

static double dunnett_given(double d, size_t k)
{
    double sum = 0, h = 2 * Z_REACH / Z_STEPS, w = sqrt(2) * d;
    for (int i = 0; i <= Z_STEPS; i++) {
        double z = -Z_REACH + h * i;
        sum += exp(-z * z / 2) * pow(lb_normal_cdf(z + w) - lb_normal_cdf(z - w), (double)k);
    }
    return fmin(1, sum * h / sqrt(2 * acos(-1)));
}

/* Over s, which is chi / sqrt(df); as y = log s, so that few degrees of freedom are no trouble. */
static double over_s(double (*given)(double, size_t), double q, size_t k, double df)
{
    if (!(q > 0))
        return 0;
    if (k == 1 || k == 0)
        return 1;
    if (!(df < 1e5))
        return given(q, k);
    /* density of y: 2 (df/2)^(df/2) / Gamma(df/2) exp(df y - df exp(2y)/2) */
    double norm = log(2) + df / 2 * log(df / 2) - lgamma(df / 2);
    double sd = 1 / sqrt(2 * df), from = -9 * sd - (df < 30 ? 12 / df : 0), to = 8 * sd;
    double h = (to - from) / S_STEPS, sum = 0;
    for (int i = 0; i <= S_STEPS; i++) {
        double y = from + h * i, s = exp(y);
        double density = exp(norm + df * y - df * s * s / 2);
        if (density > 1e-14)
            sum += density * given(q * s, k);
    }
    return fmin(1, sum * h);
}

double lb_range_cdf(double q, size_t k, double df)
{
    return over_s(range_given, q, k, df);
}

/* k comparisons are one more mean than that: one comparison is Student's t. */
static double dunnett_of_means(double d, size_t n_means)
{
    return dunnett_given(d, n_means - 1);
}

static double dunnett_cdf(double d, size_t k, double df)
{
    return over_s(dunnett_of_means, d, k + 1, df);
}

/* Regula falsi (Illinois) on the logarithm of the remaining probability: the tail is nearly a line
 * there. */
static double quantile(double (*cdf)(double, size_t, double), double p, size_t k, double df)
{
    double want = log(1 - p), low = 0.01, high = 4, f_low = -want;
    double f_high = log(fmax(1 - cdf(high, k, df), 1e-300)) - want;
    while (f_high > 0 && high < 1e6) {
        low = high, f_low = f_high;
        high *= 2;
        f_high = log(fmax(1 - cdf(high, k, df), 1e-300)) - want;
    }
    for (int i = 0, side = 0; i < QUANTILE_STEPS && high - low > 1e-6 * high; i++) {
        double x = (low * f_high - high * f_low) / (f_high - f_low);
        double f = log(fmax(1 - cdf(x, k, df), 1e-300)) - want;
        if (fabs(f) < 1e-7)
            return x;
        if (f > 0) {
            low = x, f_low = f;
            f_high *= side == 1 ? 0.5 : 1;
            side = 1;
        } else {
            high = x, f_high = f;
            f_low *= side == -1 ? 0.5 : 1;
            side = -1;
        }
    }
    return (low + high) / 2;
}

double lb_range_quantile(double p, size_t k, double df)
{
    return quantile(lb_range_cdf, p, k, df);
}

double lb_dunnett_quantile(double p, size_t k, double df)
{
    return quantile(dunnett_cdf, p, k, df);
}
