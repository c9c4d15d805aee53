/* Warnings about a run that no verdict covers. Private to bench/run. */
#ifndef LB_WARNINGS_H
#define LB_WARNINGS_H

#include "run_state.h"

/* warnings.c: an error if nothing was ever granted and the server said why; after the verdict, what
 * else there is to say. */
/* outlasted: the lease of a drain whose every hold outlasts it, so that others are given each item
 * over and over and the queue may never be empty; 0: it is no such run. */
uint64_t lb_run_outlasted_ns(const struct lb_active_run *run);
int lb_run_check_errors(struct lb_active_run *run, struct lb_error *err);
/* Of processes that ended by themselves: of a rank that follows, which tells the first. */
void lb_run_warn_of_ends(struct lb_active_run *run);
void lb_run_warn(struct lb_active_run *run);

#endif
