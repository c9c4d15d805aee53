/* Questions to the database once all workers have ended. Private to bench/run. */
#ifndef LB_QUIET_H
#define LB_QUIET_H

#include "run_state.h"

/* Notes how many permits of each resource the tables say are free, if the strategy makes a promise
 * about this. Waits until leases of a second or less are over. */
int lb_quiet_ask(struct lb_active_run *run, struct lb_error *err);

#endif
