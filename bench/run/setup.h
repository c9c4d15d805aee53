/* Building a run up, and taking it down. Private to bench/run. */
#ifndef LB_SETUP_H
#define LB_SETUP_H

#include "run_state.h"

/* Does the strategy have heartbeats? */
bool lb_run_beats(const struct lb_run_plan *request);
/* Everything up to the moment when all workers are started; undone by lb_run_clean_up and
 * lb_run_release, after a failure too. */
int lb_run_set_up(struct lb_active_run *run, struct lb_error *err);
int lb_run_start_workers(struct lb_active_run *run, struct lb_error *err);
int lb_run_clean_up(struct lb_active_run *run, struct lb_error *err);
void lb_run_release(struct lb_active_run *run);

#endif
