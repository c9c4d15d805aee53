/* Workers as fibers of a few threads. Private to bench/run. */
#ifndef LB_CARRIERS_H
#define LB_CARRIERS_H

#include "run_state.h"

/* carriers.c: workers as fibers of a few threads. How many threads; 0: each worker has its own. */
int lb_carriers_wanted(const struct lb_active_run *run, uint32_t *ret_n, struct lb_error *err);
int lb_carriers_start(struct lb_active_run *run, uint32_t n, struct lb_error *err);
void lb_carriers_end(struct lb_active_run *run); /* waits for them */
void lb_carriers_release(struct lb_active_run *run);

#endif
