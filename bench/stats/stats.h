/* Statistics of runs: intervals, tests, comparisons.
 *
 * The unit of replication is a run: n values are n runs of one configuration, and n is small (5 to
 * 20). So everything here that decides is free of distributions (order statistics, ranks) and exact
 * at small n, and every interval carries the coverage that it really has.
 *
 * Functions leave their input as it is. "sorted" means ascending (lb_stats_sort); values are
 * finite. Nothing here keeps state; randomness comes from a seed that the caller gives and prints.
 */
#ifndef LB_STATS_H
#define LB_STATS_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An interval of confidence. coverage is what it attains by construction; if there are too few
 * values for the requested level, it is the widest possible interval, and coverage is lower.
 */
struct lb_confidence {
    double low, high;
    double coverage;
};

struct lb_estimate {
    double value;
    struct lb_confidence interval;
};

/* ---- describe.c: order statistics, fairness ---- */

void lb_stats_sort(double *values, size_t n);
double lb_stats_mean(const double *values, size_t n);
/* Quantile q in [0,1] of sorted values, linear between neighbours (type 7 of Hyndman and Fan,
 * 1996). n > 0. */
double lb_stats_quantile(const double *sorted, size_t n, double q);

/* The median with its distribution-free interval between two order statistics (binomial; David and
 * Nagaraja, Order Statistics, 7.1). Below 6 values no 95 % interval exists: then it is min..max,
 * with coverage 1 - 2^(1-n). n > 0. */
struct lb_estimate lb_stats_median(const double *sorted, size_t n, double level);

/* The ratio of two sums over n parts, with the interval of the linearized ratio estimator (Cochran,
 * Sampling Techniques, 6.4). Below 3 parts it is infinite; NAN without a second sum. */
struct lb_estimate lb_stats_ratio_of_sums(const double *parts, const double *of, size_t n,
                                          double level);

/* ---- rank.c: two samples ---- */

/* Two-sided Mann-Whitney U test (Wilcoxon's rank sum). */
struct lb_mann_whitney {
    double u; /* pairs (a, b) with b > a, ties counted one half; 0 .. na*nb */
    double p; /* probability of a rank sum at least that far from its mean, if a and b are alike */
    bool exact; /* permutation distribution, with ties; else normal with ties and continuity */
};

enum { LB_STATS_EXACT_MAX = 64 }; /* na + nb up to which it is exact: counts fit 64 bits */

/* na, nb > 0. */
struct lb_mann_whitney lb_stats_mann_whitney(const double *sorted_a, size_t na,
                                             const double *sorted_b, size_t nb);
/* The smallest possible p for na and nb values: 2 / C(na+nb, na). */
double lb_stats_least_p(size_t na, size_t nb);
/* Fewest runs per cell with which one of n_comparisons can be significant at 1 - level after
 * Holm's correction. */
size_t lb_stats_runs_needed(size_t n_comparisons, double level);

/* The ratio b/a by Hodges and Lehmann: median of all b_j/a_i, between two order statistics of these
 * ratios by the Mann-Whitney distribution (Hollander and Wolfe, 4.2-4.3, on the logarithms). Its
 * interval is exact whenever b is distributed as a times a constant, at any number of values, and
 * it agrees with the test. Values >= 0; 0/0 counts as 1, x/0 as infinite. */
struct lb_estimate lb_stats_ratio(const double *sorted_a, size_t na, const double *sorted_b,
                                  size_t nb, double level);

/* ---- paired.c: runs that alternate ---- */

/* Runs of one cell. */
struct lb_runs {
    const double *values;
    const int64_t *start_ms; /* when each began; NULL: not known */
    size_t n;
};

/* Do the runs alternate, so that in order of time each two are one of either? Then ret_base[i] and
 * ret_new[i] (room for base->n) are those of pair i. */
bool lb_stats_pair(const struct lb_runs *base, const struct lb_runs *new, double *ret_base,
                   double *ret_new);

struct lb_paired {
    size_t n;
    double p; /* two-sided */
    struct lb_confidence interval;
};
/* n > 0 pairs by the rank sum, against its distribution when each pair may be swapped: exact to
 * LB_STATS_EXACT_MAX pairs. What slows both of a pair down cancels. ratio is that of
 * lb_stats_ratio, b/a; interval: the factors by which a may be multiplied without the test refusing
 * it, nothing to infinity where too few pairs refuse none. Values >= 0. */
struct lb_paired lb_stats_pairs(const double *a, const double *b, size_t n, double ratio,
                                double level);

/* ---- compare.c: verdicts ---- */

/* Holm's step-down correction (1979) of n p-values, in place, order kept, in a family of n_family
 * >= n comparisons (those that are not listed count as not significant). */
void lb_stats_holm(double *p, size_t n, size_t n_family);

enum lb_stats_verdict {
    LB_STATS_FASTER,     /* significant, and the ratio is outside of the noise band */
    LB_STATS_SLOWER,     /* the same, the other way */
    LB_STATS_EQUIVALENT, /* the ratio's whole interval is inside of the noise band */
    LB_STATS_INCONCLUSIVE
};
/* "faster", "slower", "equivalent", "inconclusive". */
const char *lb_stats_verdict_name(enum lb_stats_verdict verdict);

struct lb_compare_options {
    double level;          /* 0.95; a gate that acts on slower alone takes 0.90: see below */
    double band;           /* noise band, relative: 0.05 is a ratio in 1/1.05 .. 1.05 */
    bool higher_is_better; /* throughput: yes; latency: no */
};

/* Two cells: base (a) and new (b). Where their runs alternate, and there are enough of them to show
 * something in the family, they are compared pair by pair, else as two heaps. The choice depends on
 * the numbers of runs and comparisons alone, never on the measured values. */
struct lb_comparison {
    struct lb_estimate base, new; /* medians */
    struct lb_estimate ratio;     /* new/base: lb_stats_ratio; the interval may be of the pairs */
    size_t n_base, n_new;
    double sd;       /* of one run on the log scale; pairs: beside its pair. NAN: not known */
    double p;        /* p of the test that decides: of Mann and Whitney, or of the pairs */
    double pairs_sd; /* the latter */
    struct lb_paired pairs; /* n is 0 where the runs do not alternate */
    bool is_paired;         /* lb_stats_decide: the pairs decide */
    double p_adjusted;      /* Holm over the family; p before lb_stats_decide */
    enum lb_stats_verdict verdict;
    char reason[160]; /* of an inconclusive verdict; else "" */
};

/* Fills one comparison (values unsorted, >= 0, at least one each); the verdict stays inconclusive
 * until lb_stats_decide. Returns 0 or LB_E_USAGE. */
int lb_stats_compare(const struct lb_runs *base, const struct lb_runs *new,
                     const struct lb_compare_options *options, struct lb_comparison *ret,
                     struct lb_error *err);
/* Corrects the p-values over the family and gives each its verdict. With p adjusted, the chance
 * that any of n equal pairs is called faster or slower is at most 1 - level; that any is called
 * slower, at most half of it. So a gate with level 0.90 cries wolf in at most 5 % of its runs, and
 * finds more than one with 0.95. */
void lb_stats_decide(struct lb_comparison *comparisons, size_t n,
                     const struct lb_compare_options *options);

/* ---- power.c: the difference that a comparison can find ---- */

struct lb_power_of {
    double sd; /* of one run, on the log scale, without the compared effect: lb_comparison.sd */
    size_t n_base, n_new, n_family;
    bool is_paired;
    double level, band; /* as of lb_compare_options */
};
/* The relative difference that is called faster or slower in 80 of 100 cases: 0.09 is a factor of
 * 1.09. INFINITY: none can be, or the noise is not known. */
double lb_stats_shows(const struct lb_power_of *of);
/* How many runs of each a difference of the band needs to be significant in 80 of 100 cases; 0:
 * more than 1000, or the noise is not known. */
size_t lb_stats_runs_for(const struct lb_power_of *of);

/* ---- trend.c: is it steady? ---- */

struct lb_trend {
    double slope, intercept;
    double slope_error;     /* standard error by least squares, for independent residuals */
    double autocorrelation; /* of neighbouring residuals */
    double change;          /* from the first x to the last, relative to the mean of y */
    struct lb_confidence change_interval;
};

enum lb_steady {
    LB_STEADY,   /* the interval of the change is inside of the tolerance */
    LB_DRIFTING, /* the change is significant and outside of it */
    LB_UNCLEAR   /* too noisy or too short to say */
};

/* Least squares over (x, y) in order of x. Neighbouring intervals of a run are alike (a checkpoint
 * lasts for several), so the interval is widened by the residuals' autocorrelation (Santer et al.
 * 2000). Returns -1 if n < 4, x does not vary, or the mean of y is not positive. */
int lb_stats_trend(const double *x, const double *y, size_t n, double level, struct lb_trend *ret);
/* tolerance: relative change over the whole, e.g. 0.1. */
enum lb_steady lb_stats_steady(const struct lb_trend *trend, double tolerance);

#endif
