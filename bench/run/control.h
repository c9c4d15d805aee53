/* The controlling thread: was it interrupted, and is its session still there? Private to bench/run.
 */
#ifndef LB_CONTROL_H
#define LB_CONTROL_H

#include "run_state.h"

/* 0, 1 (finish and report) or 2 (stop now). */
int lb_control_interrupted(const struct lb_active_run *run);

/* A control session that was lost is opened again, or the set-up begun again, for so long. */
enum { LB_CONTROL_PATIENCE_S = 30 };

/* Of the control session, as far as is known. */
bool lb_control_has_connection(const struct lb_active_run *run);
/* Opens the control session again, where it had to be closed for the fork or was lost with the
 * server. */
int lb_control_reopen(struct lb_active_run *run, struct lb_error *err);

#endif
