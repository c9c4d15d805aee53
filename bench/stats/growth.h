/* How a cost grows with a size: y = a + b x^p, fitted to a few exact measurements.
 *
 * The costs are counts, not times: there is no noise to average out, but there are steps, such as
 * another level of an index. So a growth by half while the size grows by 64, or of eight counts, is
 * flat. Else the exponent decides: p near 0 is a logarithm, up to 1.25 linear, above it worse.
 */
#ifndef LB_GROWTH_H
#define LB_GROWTH_H

#include <stddef.h>

enum lb_growth_law { LB_GROWTH_FLAT, LB_GROWTH_LOG, LB_GROWTH_LINEAR, LB_GROWTH_WORSE };

struct lb_growth {
    enum lb_growth_law law;
    double a, b, p;         /* p 0: a + b ln(x) */
    double p_least, p_most; /* exponents that fit nearly as well */
    double per_1000;        /* slope between the first and the last point */
};

/* x ascends and is above 0; n from 2 to 16. */
void lb_growth_fit(const double *x, const double *y, size_t n, struct lb_growth *ret);
/* The cost at x. */
double lb_growth_at(const struct lb_growth *growth, double x);
/* The least x, up to most, at which the cost reaches y; above most: most is returned times 2. */
double lb_growth_reaches(const struct lb_growth *growth, double y, double most);
const char *lb_growth_name(enum lb_growth_law law); /* "flat" */

#endif
