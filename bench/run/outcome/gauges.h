/* What the server, its tables and this program are at, once in each interval of a run. Private to
 * bench/run, but for the names (outcome.h). */
#ifndef LB_GAUGES_H
#define LB_GAUGES_H

#include "run_state.h"

/* Starts the thread that asks the server, on a session of its own. A server that does not answer
 * leaves gaps, and fails no run. 0 or an error of this machine. */
int lb_gauges_start(struct lb_active_run *run, struct lb_error *err);
/* Fills the gauges of an interval that ends now; NAN is unknown. */
void lb_gauges_take(struct lb_active_run *run, struct lb_interval *interval);
/* Interrupts a statement that waits; ends the thread; both accept NULL. */
void lb_gauges_cancel(struct lb_gauges *gauges);
void lb_gauges_end(struct lb_gauges *gauges);

#endif
