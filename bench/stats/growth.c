/* The law by which a cost grows: see growth.h. */
#include "growth.h"

#include <float.h>
#include <math.h>

#define GROWTH_COUNTS 8.0

static double term(double x, double p)
{
    return p < 0.01 ? log(x) : pow(x, p);
}

/* The least squares of y / weight, in which all points count alike relative to their height.
 * Returns the root of the mean of the squares of the relative errors. */
static double fit(const double *x, const double *y, size_t n, double p, double *ret_a,
                  double *ret_b)
{
    double s = 0, st = 0, stt = 0, sy = 0, sty = 0, error = 0;
    for (size_t i = 0; i < n; i++) {
        double t = term(x[i], p), w = 1 / ((y[i] + 1) * (y[i] + 1));
        s += w;
        st += w * t;
        stt += w * t * t;
        sy += w * y[i];
        sty += w * t * y[i];
    }
    double d = s * stt - st * st;
    *ret_b = fabs(d) > 0 ? (s * sty - st * sy) / d : 0;
    *ret_a = (sy - *ret_b * st) / s;
    for (size_t i = 0; i < n; i++) {
        double e = (*ret_a + *ret_b * term(x[i], p) - y[i]) / (y[i] + 1);
        error += e * e;
    }
    return sqrt(error / (double)n);
}

static enum lb_growth_law law_of(double p)
{
    return p < 0.2 ? LB_GROWTH_LOG : p <= 1.25 ? LB_GROWTH_LINEAR : LB_GROWTH_WORSE;
}

/* By which ratio a flat cost may grow while the size grows by this one. */
static double most_flat(double ratio)
{
    return 1 + 0.5 * log(ratio) / log(64);
}

void lb_growth_fit(const double *x, const double *y, size_t n, struct lb_growth *ret)
{
    enum { STEPS = 60 };
    double best = DBL_MAX, errors[STEPS + 1];
    double least = y[0];
    for (size_t i = 1; i < n; i++)
        least = y[i] < least ? y[i] : least;
    *ret = (struct lb_growth){0};
    ret->per_1000 = (y[n - 1] - y[0]) / (x[n - 1] - x[0]) * 1000;
    if (y[n - 1] <= least * most_flat(x[n - 1] / x[0]) || y[n - 1] - least <= GROWTH_COUNTS) {
        ret->a = y[n - 1];
        return;
    }
    for (int i = 0; i <= STEPS; i++) {
        double a, b, p = i / 20.0; /* 0, 0.05, ... 3 */
        errors[i] = fit(x, y, n, p, &a, &b);
        if (errors[i] >= best)
            continue;
        best = errors[i];
        ret->a = a;
        ret->b = b;
        ret->p = p;
    }
    ret->p_least = ret->p_most = ret->p;
    for (int i = 0; i <= STEPS; i++)
        if (errors[i] <= 2 * best + 0.01) {
            ret->p_least = i / 20.0 < ret->p_least ? i / 20.0 : ret->p_least;
            ret->p_most = i / 20.0 > ret->p_most ? i / 20.0 : ret->p_most;
        }
    /* Every exponent fits as badly: the costs scatter, and do not grow with the size. Of two points
     * every exponent fits. */
    if (n > 2 && ret->p_least <= 0 && ret->p_most >= STEPS / 20.0) {
        ret->a = y[n - 1];
        ret->b = ret->p = ret->p_least = ret->p_most = 0;
        return;
    }
    /* Linear, if that fits as well as any: most walks are. */
    if (ret->p_least <= 1 && ret->p_most >= 1) {
        ret->p = 1;
        fit(x, y, n, 1, &ret->a, &ret->b);
    }
    ret->law = law_of(ret->p);
}

double lb_growth_at(const struct lb_growth *growth, double x)
{
    return growth->b > 0 ? growth->a + growth->b * term(x, growth->p) : growth->a;
}

double lb_growth_reaches(const struct lb_growth *growth, double y, double most)
{
    double from = 1, to = most;
    if (lb_growth_at(growth, most) < y)
        return 2 * most;
    for (int i = 0; i < 60; i++) {
        double middle = (from + to) / 2;
        if (lb_growth_at(growth, middle) < y)
            from = middle;
        else
            to = middle;
    }
    return to;
}

const char *lb_growth_name(enum lb_growth_law law)
{
    static const char *const names[] = {"flat", "log", "linear", "worse"};
    return names[law];
}
