/* Several sessions that put a large backlog together. Private to bench/run. */
#ifndef LB_PUTTERS_H
#define LB_PUTTERS_H

#include "run_state.h"

/* Puts the items first .. first + n - 1 by op, of the control session. Where it pays, and changes
 * nothing but the order of the puts, further sessions help; they are gone when this returns. An
 * answer or an error. */
int lb_putters_put(struct lb_active_run *run, struct lb_operator *op, int64_t first, uint64_t n,
                   const char *payload, struct lb_error *err);

#endif
