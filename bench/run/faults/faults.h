/* Faults: the failures injected into a run, their times and victims. Private to bench/run. */
#ifndef LB_FAULTS_H
#define LB_FAULTS_H

#include "run_state.h"

/* The faults' reactions to the events that workers report. */
extern const struct lb_worker_events lb_fault_events;
/* Has this fault a meaning on this engine? 0 or LB_E_UNSUPPORTED. db NULL: no database. */
int lb_fault_check(const struct lb_strategy *strategy, const struct lb_scenario *scenario,
                   const struct lb_db *db, struct lb_error *err);
/* Is all given that it needs? 0 or LB_E_UNSUPPORTED. */
int lb_fault_check_plan(const struct lb_run_plan *plan, struct lb_error *err);

/* Start after the workers, watch from time to time, end before the clean-up. */
int lb_faults_start(struct lb_active_run *run, struct lb_error *err);
void lb_faults_watch(struct lb_active_run *run);
void lb_faults_end(struct lb_active_run *run);
/* Of a run that lasts as long as its faults do: are they over? */
bool lb_faults_done(struct lb_active_run *run);

#endif
