/* Kolmogorov-Smirnov tests: do random numbers have the distribution that they should have?
 *
 * Kolmogorov's distribution: exact by Durbin's matrix power as in Marsaglia, Tsang and Wang,
 * "Evaluating Kolmogorov's Distribution" (Journal of Statistical Software 8(18), 2003), with their
 * tail formula where it is good to 7 digits; above n = 1000 the limit with Vrbik's correction of
 * its argument ("Small-sample corrections to Kolmogorov-Smirnov test statistic", 2018).
 */
#ifndef LB_TEST_KOLMOGOROV_H
#define LB_TEST_KOLMOGOROV_H

#include "distribution.h"
#include "random.h"
#include "stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KOLMOGOROV_EXACT_MAX = 1000 };

struct lb_test_ks {
    double d; /* largest distance between the two distribution functions */
    double p;
};

/* A square matrix times 10^exponent: powers of H leave the range of a double otherwise. */
struct scaled {
    double *at;
    int exponent;
};

static inline void multiply(const struct scaled *a, const struct scaled *b, size_t m,
                            struct scaled *into)
{
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < m; j++) {
            double sum = 0;
            for (size_t k = 0; k < m; k++)
                sum += a->at[i * m + k] * b->at[k * m + j];
            into->at[i * m + j] = sum;
        }
    }
    into->exponent = a->exponent + b->exponent;
    if (into->at[(m / 2) * m + m / 2] > 1e140) {
        for (size_t i = 0; i < m * m; i++)
            into->at[i] *= 1e-140;
        into->exponent += 140;
    }
}

/* Durbin's matrix: ones on and below the first superdiagonal, corrected in the first column and the
 * last row by powers of h, and each entry (i, j) divided by (i-j+1)!. */
static inline void fill_durbin(double *at, size_t m, double h)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            at[i * m + j] = i + 1 >= j ? 1 : 0;
    for (size_t i = 0; i < m; i++) {
        at[i * m] -= pow(h, (double)(i + 1));
        at[(m - 1) * m + i] -= pow(h, (double)(m - i));
    }
    at[(m - 1) * m] += 2 * h - 1 > 0 ? pow(2 * h - 1, (double)m) : 0;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++)
            for (size_t g = 2; g <= i - j + 1; g++)
                at[i * m + j] /= (double)g;
}

static inline double kolmogorov_exact(double d, unsigned n)
{
    double nd = n * d;
    size_t k = (size_t)nd + 1, m = 2 * k - 1;
    double *memory = calloc(3 * m * m, sizeof *memory);
    if (memory == NULL)
        return -1;
    struct scaled base = {memory, 0}, power = {memory + m * m, 0}, spare = {memory + 2 * m * m, 0};
    fill_durbin(base.at, m, (double)k - nd);
    for (size_t i = 0; i < m; i++)
        power.at[i * m + i] = 1;
    for (unsigned bits = n; bits > 0; bits >>= 1) {
        struct scaled swap;
        if (bits & 1) {
            multiply(&power, &base, m, &spare);
            swap = power, power = spare, spare = swap;
        }
        multiply(&base, &base, m, &spare);
        swap = base, base = spare, spare = swap;
    }
    double result = power.at[(k - 1) * m + k - 1];
    for (unsigned i = 1; i <= n; i++) { /* times n!/n^n */
        result = result * i / n;
        if (result < 1e-140) {
            result *= 1e140;
            power.exponent -= 140;
        }
    }
    free(memory);
    return result * pow(10, power.exponent);
}

/* P(D < d) of the statistic of n values. Negative: out of memory. */
static inline double lb_test_kolmogorov_cdf(double d, unsigned n)
{
    double root = sqrt(n), s = d * d * n;
    if (d <= 0.5 / n)
        return 0;
    if (d >= 1)
        return 1;
    if (s > 7.24 || (s > 3.76 && n > 99))
        return 1 - 2 * exp(-(2.000071 + 0.331 / root + 1.409 / n) * s);
    if (n <= KOLMOGOROV_EXACT_MAX)
        return kolmogorov_exact(d, n);
    double t = root * d + 1 / (6 * root) + (root * d - 1) / (4 * n), tail = 0;
    if (t < 0.2) /* the series converges slowly there, and the value is 0 to 12 digits */
        return 0;
    for (int j = 1; j <= 100; j++)
        tail += (j % 2 == 1 ? 2 : -2) * exp(-2.0 * j * j * t * t);
    return 1 - tail;
}

/* Largest distance between the empirical distribution function and the one whose value at the i-th
 * value is f(i): it is attained at a step, on one of its two sides. */
static inline double step_distance(double f, size_t i, size_t n)
{
    return fmax((double)(i + 1) / (double)n - f, f - (double)i / (double)n);
}

static inline int judge(double d, size_t n, struct lb_test_ks *ret, struct lb_error *err)
{
    double cdf = lb_test_kolmogorov_cdf(d, (unsigned)n);
    if (cdf < 0)
        return lb_fail(err, LB_E_MEMORY, "out of memory for a distribution test of %zu values", n);
    *ret = (struct lb_test_ks){.d = d, .p = 1 - cdf};
    return 0;
}

/* Of sorted values, against the exponential distribution of a mean known beforehand. */
static inline int lb_test_ks_exponential(const double *sorted, size_t n, double mean,
                                         struct lb_test_ks *ret, struct lb_error *err)
{
    assert(n > 0 && mean > 0);
    double d = 0;
    for (size_t i = 0; i < n; i++)
        d = fmax(d, step_distance(sorted[i] > 0 ? -expm1(-sorted[i] / mean) : 0, i, n));
    return judge(d, n, ret, err);
}

/* The same against the uniform distribution on [0,1]. */
static inline int lb_test_ks_uniform(const double *sorted, size_t n, struct lb_test_ks *ret,
                                     struct lb_error *err)
{
    assert(n > 0);
    double d = 0;
    for (size_t i = 0; i < n; i++)
        d = fmax(d, step_distance(fmin(1, fmax(0, sorted[i])), i, n));
    return judge(d, n, ret, err);
}

#endif
