/* The slow end of the latencies of several runs, for percentiles of all of them together: runs may
 * be counted several times, or not at all.
 */
#ifndef LB_TAIL_H
#define LB_TAIL_H

#include "histogram.h"

/* The error of a value read back: a bucket is 1/256 wide at most, and its middle is reported. */
#define LB_TAIL_RESOLUTION (1.0 / 256 / 3.46) /* standard deviation of an even distribution */

struct lb_tail;
/* runs[i]: may be NULL. */
struct lb_tail *lb_tail_new(const struct lb_histogram *const *runs, size_t n_runs);
void lb_tail_free(struct lb_tail *tail);
/* How many values are counted. */
double lb_tail_count(const struct lb_tail *tail, const double *weight);
/* The value at quantile q of all runs, run i counted weight[i] times: with weights of 1 that of
 * lb_histogram_quantile of the sum, but for its bounds [min, max]. 0 when nothing is counted. */
double lb_tail_quantile(const struct lb_tail *tail, const double *weight, double q);

#endif
