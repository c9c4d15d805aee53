/* How the server reads the tables for each operation, before the first worker starts. Private to
 * bench/run.
 */
#ifndef LB_PLANS_H
#define LB_PLANS_H

#include "run_state.h"

/* Fills the outcome's plans if they are wanted. An operation that cannot be tried has none. 0, or
 * LB_E_MEMORY. */
int lb_plans_read(struct lb_active_run *run, struct lb_error *err);

#endif
