/* Distribution functions: normal, Student's t.
 *
 * The quantiles are found by bisection on the distribution function: they are needed a few times a
 * run, so plain and right is better than fast. Student's t goes through the incomplete beta
 * function (continued fraction of DLMF 8.17.22, evaluated by Lentz's method).
 */
#include "distribution.h"

#include <math.h>

enum { BISECTIONS = 200 };

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
