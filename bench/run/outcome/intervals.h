/* How far the run has come. Private to bench/run. */
#ifndef LB_INTERVALS_H
#define LB_INTERVALS_H

#include "run_state.h"

/* intervals.c: closes the present interval if its second is over, or with force; NULL: not yet. */
const struct lb_interval *lb_run_interval(struct lb_active_run *run, bool force);

/* Notes how far the measured part has come, if it is time at now_ns. */
void lb_run_sample(struct lb_active_run *run, uint64_t now_ns);

/* Successes of all workers so far. */
uint64_t lb_run_successes(const struct lb_active_run *run);
uint64_t lb_run_refusals(const struct lb_active_run *run);
/* Their waits. */
void lb_run_waits(const struct lb_active_run *run, uint64_t ret_sums[LB_COARSE_BUCKETS]);
/* Tells the user how far it has come; in the measured part, closes intervals and takes samples. */
void lb_run_report(struct lb_active_run *run, const char *phase, double fraction);
/* How many arrivals were meant to come, in the measured part and in each interval. */
void lb_run_count_due(struct lb_active_run *run);

#endif
