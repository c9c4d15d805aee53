/* The Universal Scalability Law: throughput X of N workers (Gunther, Guerrilla Capacity Planning).
 *
 *     X(N) = lambda N / (1 + sigma (N-1) + kappa N (N-1))
 *
 * lambda is the throughput of one worker alone, sigma in [0,1] the share of work that is serialised
 * (waiting for the lock), kappa in [0,1] the price of keeping each pair of workers in agreement:
 * with kappa > 0 throughput has a peak at N = sqrt((1-sigma)/kappa) and falls beyond it.
 */
#ifndef LB_USL_H
#define LB_USL_H

#include "stats.h"

enum { LB_USL_MIN_LEVELS = 6 }; /* numbers of workers that a fit needs */
#define LB_USL_MAX_REACH 2.0    /* predictions go no further than this times the largest N */

struct lb_usl {
    double lambda, sigma, kappa;
};

struct lb_usl_point {
    double n; /* workers, >= 1 */
    double x; /* throughput of one run, > 0 */
};

/* A fit and its bootstrap. Release with lb_usl_release. */
struct lb_usl_fit {
    struct lb_usl best;
    struct lb_confidence lambda, sigma, kappa;
    size_t n_points, n_levels; /* runs, and different N among them */
    double largest_n;
    double r_squared;
    double worst_residual; /* largest |mean of a level / fit - 1|: does the law describe this? */
    double level;
    double freedom;         /* degrees of it in the noise that the bootstrap draws from */
    struct lb_usl *samples; /* fits of the bootstrap */
    size_t n_samples;
};

/* Fits by least squares. Points in any order; several with one N are repetitions. The interval's
 * bootstrap draws repetitions again (from what the fit leaves over, if some N was run only once).
 * Refuses (LB_E_USAGE) fewer than LB_USL_MIN_LEVELS different N, N < 1 and X <= 0; LB_E_INTERNAL if
 * the fit does not converge. n_samples 0: no intervals. */
int lb_usl_fit(const struct lb_usl_point *points, size_t n, double level, size_t n_samples,
               uint64_t seed, struct lb_usl_fit *ret, struct lb_error *err);
void lb_usl_release(struct lb_usl_fit *fit);

double lb_usl_at(const struct lb_usl *usl, double n);
/* N of the peak, at least 1; INFINITY if throughput only grows. */
double lb_usl_peak(const struct lb_usl *usl);
/* N of the knee, at least 1: where throughput per time in the system, X/(N/X), is highest
 * (Kleinrock's power). Below it a further worker adds more throughput than waiting, above it less.
 * INFINITY if throughput grows in proportion to N. */
double lb_usl_knee(const struct lb_usl *usl);

/* Throughput at n workers, with the fit's interval (of the mean, not of a single run). Refuses n <
 * 1 and beyond LB_USL_MAX_REACH times the largest N with LB_E_USAGE. */
int lb_usl_predict(const struct lb_usl_fit *fit, double n, struct lb_estimate *ret,
                   struct lb_error *err);

/* Where the peak lies (N) and how high it is (X), each with its interval. Bounds and value may be
 * INFINITY for N; X is then the limit for N without bound. Refuses, but sets the known values, when
 * the peak is beyond LB_USL_MAX_REACH times the largest N. */
int lb_usl_predict_peak(const struct lb_usl_fit *fit, struct lb_estimate *ret_n,
                        struct lb_estimate *ret_x, struct lb_error *err);

/* The same for the knee. */
int lb_usl_predict_knee(const struct lb_usl_fit *fit, struct lb_estimate *ret_n,
                        struct lb_estimate *ret_x, struct lb_error *err);

/* The fewest workers that carry rate, with its interval (high INFINITY when some of the bootstrap's
 * fits never reach it). Refuses (LB_E_USAGE) when the peak is lower, or the answer is beyond
 * LB_USL_MAX_REACH times the largest N. */
int lb_usl_workers_for(const struct lb_usl_fit *fit, double rate, struct lb_estimate *ret,
                       struct lb_error *err);

#endif
