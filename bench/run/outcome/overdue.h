/* Does a queue of recurring work keep up? Private to bench/run. */
#ifndef LB_OVERDUE_H
#define LB_OVERDUE_H

#include "outcome.h"

/* overdue.c: does a queue of recurring work keep up? From the history, between the two times. */
void lb_overdue_tell(const struct lb_history_view *view, uint64_t start_ns, uint64_t end_ns,
                     const struct lb_scenario *scenario, struct lb_proof *ret_proof);

#endif
