/* Distribution functions: normal, Student's t, Kolmogorov.
 *
 * The quantiles are found by bisection on the distribution function: they are needed a few times a
 * run, so plain and right is better than fast. Student's t goes through the incomplete beta
 * function (continued fraction of DLMF 8.17.22, evaluated by Lentz's method).
 *
 * Kolmogorov's distribution: exact by Durbin's matrix power as in Marsaglia, Tsang and Wang,
 * "Evaluating Kolmogorov's Distribution" (Journal of Statistical Software 8(18), 2003), with their
 * tail formula where it is good to 7 digits; above n = 1000 the limit with Vrbik's correction of
 * its argument ("Small-sample corrections to Kolmogorov-Smirnov test statistic", 2018).
 */
#include "distribution.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { BISECTIONS = 200, KOLMOGOROV_EXACT_MAX = 1000 };

double lb_normal_cdf(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

double lb_normal_quantile(double p)
{
    double low = -40, high = 40;
    for (int i = 0; i < BISECTIONS && high - low > 1e-14; i++) {
        double middle = (low + high) / 2;
        if (lb_normal_cdf(middle) < p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* The continued fraction of the incomplete beta function, for x < (a+1)/(a+b+2). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1;
    double d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double result = d;
    for (int m = 1; m < 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double terms[] = {even, odd};
        double factor = 1;
        for (int i = 0; i < 2; i++) {
            d = 1 + terms[i] * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + terms[i] / c;
            c = fabs(c) < tiny ? tiny : c;
            factor = c * d;
            result *= factor;
        }
        if (fabs(factor - 1) < 1e-15)
            break;
    }
    return result;
}

/* Regularised incomplete beta function I_x(a, b). */
static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double lb_t_quantile(double p, double df)
{
    double tail = p < 0.5 ? p : 1 - p; /* by symmetry, of the side that is small */
    double low = 0, high = 1;
    while (incomplete_beta(df / 2, 0.5, df / (df + high * high)) / 2 > tail && high < 1e150)
        high *= 2;
    for (int i = 0; i < BISECTIONS && high - low > 1e-14 * high; i++) {
        double middle = (low + high) / 2;
        if (incomplete_beta(df / 2, 0.5, df / (df + middle * middle)) / 2 > tail)
            low = middle;
        else
            high = middle;
    }
    double t = (low + high) / 2;
    return p < 0.5 ? -t : t;
}

/* A square matrix times 10^exponent: powers of H leave the range of a double otherwise. */
struct scaled {
    double *at;
    int exponent;
};

static void multiply(const struct scaled *a, const struct scaled *b, size_t m, struct scaled *into)
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
static void fill_durbin(double *at, size_t m, double h)
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

static double kolmogorov_exact(double d, unsigned n)
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

double lb_kolmogorov_cdf(double d, unsigned n)
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
