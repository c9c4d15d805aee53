/* Workers in forked processes. Private to bench/run. */
#ifndef LB_PROCESSES_H
#define LB_PROCESSES_H

#include "run_state.h"

/* processes.c: workers in forked processes. start forks them all; the parent has no thread then and
 * no connection open. watch notices deaths; end waits for the remaining processes, or kills
 * them. */
int lb_processes_start(struct lb_active_run *run, struct lb_error *err);
void lb_processes_watch(struct lb_active_run *run);
void lb_processes_end(struct lb_active_run *run, bool kill_now);

#endif
