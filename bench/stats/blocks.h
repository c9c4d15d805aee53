/* Strategies compared in rounds: each is run once a round, in random order, so that a round is a
 * block of runs of the same minutes.
 *
 * The values are logarithms, and two strategies are compared by the differences of their values in
 * the rounds that both were run in: an effect that a whole round shares (a slow minute, a drift)
 * cancels, and the difference is the logarithm of a ratio. All pairs of the table are one family:
 * the intervals hold together, at the requested level, also for the pair that looks best
 * afterwards.
 *
 * Noise: each strategy scatters by its own residuals, but of few rounds these say little. Those of
 * the whole table say more, and are right where all scatter alike. So a strategy's variance is
 * drawn toward the table's (Smyth 2004, "Linear models and empirical Bayes methods for assessing
 * differential expression"): by nothing where the residuals' variances differ by more than chance
 * makes them, or tails are heavy, which looks the same; and by no more than its own weight where
 * they do not, since few rounds cannot tell. A pair has the sum of its two, with degrees of freedom
 * by Welch and Satterthwaite, as Games and Howell have it.
 */
#ifndef LB_BLOCKS_H
#define LB_BLOCKS_H

#include "stats.h"

enum { LB_BLOCKS_MIN_ROUNDS = 3 }; /* below this nothing is said of a pair */

/* value[i * n_rounds + r] is that of strategy i in round r; NAN: it was not run in it. */
struct lb_blocks {
    const double *value;
    size_t n_strategies, n_rounds;
};

/* What strategies and rounds leave over. */
struct lb_block_noise {
    double sd;       /* of one run, of the table as a whole, on the log scale */
    double round_sd; /* the effect shared by the runs of a round, on the log scale */
    double weight;   /* of the table in a strategy's variance, its own being 1 */
    double df;       /* of the table's residuals */
};

/* The logarithm of new/base. */
struct lb_block_pair {
    size_t n;         /* rounds that both were run in */
    double value;     /* mean of the differences; NAN without any */
    double low, high; /* simultaneous; infinite below LB_BLOCKS_MIN_ROUNDS */
    double error;     /* standard error of value */
    double df;        /* degrees of freedom of error */
};

/* The comparisons that are to hold together, and how surely. One with the same numbers may be used
 * for many tables: its quantiles are integrals, and are kept. */
enum { LB_FAMILY_NODES = 18 };
struct lb_family {
    bool has_reference; /* with one that was named beforehand: Dunnett. Else all pairs: Tukey */
    size_t reference;
    size_t n_strategies;          /* at least 2 */
    double alpha;                 /* the chance that any interval misses */
    bool guards_two;              /* set by lb_blocks_resample */
    double node[LB_FAMILY_NODES]; /* 0: not computed yet */
};

/* Of |t| with df degrees of freedom, so that the whole family holds together. */
double lb_family_quantile(struct lb_family *family, double df);

/* ret_pairs (room for n_strategies^2): [base * n_strategies + new]; those that are not in the
 * family are all NAN. */
void lb_blocks_compare(const struct lb_blocks *blocks, struct lb_family *family,
                       struct lb_block_noise *ret_noise, struct lb_block_pair *ret_pairs);

/* Faster or slower: the interval excludes 0. Equivalent: it is inside of log(1/(1+band)) ..
 * log(1+band), whether or not it excludes 0. Higher is better. */
enum lb_stats_verdict lb_block_verdict(double low, double high, double band);

/* A look at the rounds so far: of several, each may miss by its own alpha, and all of them by the
 * sum. */
struct lb_look {
    size_t n_rounds;
    double alpha;
    struct lb_family family; /* set by lb_blocks_replay */
};

struct lb_block_result {
    struct lb_block_pair pair;
    enum lb_stats_verdict verdict;
    size_t look; /* that decided the pair */
};

/* Replays the looks in order. Once a look decides a pair, the pair stays decided, and is reported
 * from the last look that decides it; an undecided pair is reported from the last look. results as
 * ret_pairs above; noise is that of the last look. reference: SIZE_MAX for all pairs. */
void lb_blocks_replay(const struct lb_blocks *blocks, struct lb_look *looks, size_t n_looks,
                      size_t reference, double band, struct lb_block_noise *ret_noise,
                      struct lb_block_result *ret_results);

/* The relative difference that n_rounds rounds detect with probability 0.8, if each run scatters by
 * sd on the log scale: 0.09 is 9 %. INFINITY: no difference can be detected. */
double lb_blocks_power(size_t n_strategies, size_t n_rounds, double sd, double alpha);

typedef double lb_power_fn(size_t n_strategies, size_t n_rounds, double sd, double alpha);
/* The number of rounds, at least `least`, that detects the difference; 0: more than 1000. */
size_t lb_rounds_that_show(lb_power_fn *power, size_t least, size_t n_strategies, double difference,
                           double sd, double alpha);
size_t lb_blocks_rounds(size_t n_strategies, double difference, double sd, double alpha);

/* ---- resample.c: statistics that are not a mean of rounds ---- */

enum { LB_RESAMPLE_MIN_ROUNDS = 3, LB_RESAMPLE_DRAWS = 400 };

/* Strategies whose value is not a mean over rounds but one of all rounds together: a percentile of
 * the latencies of all runs, a cost over all successes. */
struct lb_resampled {
    size_t n_strategies, n_rounds;
    const bool *has; /* [i * n_rounds + r]: strategy i was run in round r */
    /* Of strategy i on the log scale, with round r counted weight[r] times; more is better. */
    double (*of)(void *arg, size_t strategy, const double *weight);
    /* Is there enough of it for a value? NULL: always. */
    bool (*is_enough)(void *arg, size_t strategy, const double *weight);
    void *arg;
    double resolution; /* standard deviation of the error of one value */
    uint64_t seed;
};

/* Two strategies by the rounds that both were run in. The standard error is that of
 * LB_RESAMPLE_DRAWS block bootstraps: as many rounds are drawn with replacement, the same for both,
 * and the values are taken from all runs of these rounds together. Rounds are blocks, so what the
 * runs of a round have in common cancels, and samples of one run, which are not independent, are
 * never counted as if they were. A bootstrap of few blocks is too narrow, as its percentiles are:
 * hence the factor n / (n - 1) for the variance, and Student's t of n - 1 degrees of freedom with
 * the quantile of the family. Arguments and results as of lb_blocks_compare; infinite below
 * LB_RESAMPLE_MIN_ROUNDS. noise: sd is that of one run, of an average pair; the rest is not known.
 */
void lb_blocks_resample(const struct lb_resampled *what, struct lb_family *family,
                        struct lb_block_noise *ret_noise, struct lb_block_pair *ret_pairs);
/* lb_blocks_power and lb_blocks_rounds for resampled statistics. */
double lb_resample_power(size_t n_strategies, size_t n_rounds, double sd, double alpha);
size_t lb_resample_rounds(size_t n_strategies, double difference, double sd, double alpha);

/* Letters for groups (Piepho 2004, "An algorithm for a letter-based representation of all-pairwise
 * comparisons"): two strategies share a letter if and only if they are not shown to differ.
 * differ[i * n + j]; letters go to those that come first. n <= LB_LETTERS_MOST, else, and when more
 * letters than that are needed, LB_E_USAGE: then there are none. */
enum { LB_LETTERS_MOST = 52, LB_LETTERS_TEXT = LB_LETTERS_MOST + 1 };
int lb_stats_letters(const bool *differ, size_t n, char (*ret)[LB_LETTERS_TEXT],
                     struct lb_error *err);

/* ---- range.c: quantiles of families ---- */

/* P(Q <= q) of the studentized range of k means with df degrees of freedom (may be INFINITY). */
double lb_range_cdf(double q, size_t k, double df);
double lb_range_quantile(double p, size_t k, double df);
/* The two-sided quantile of Dunnett's test: of the largest |t| of k comparisons with one reference,
 * correlated by one half. */
double lb_dunnett_quantile(double p, size_t k, double df);

#endif
