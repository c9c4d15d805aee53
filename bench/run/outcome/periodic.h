/* Was a job with a period run once in each? Private to bench/run. */
#ifndef LB_PERIODIC_H
#define LB_PERIODIC_H

#include "outcome.h"

/* periodic.c: was a job with a period run once in each? From the history. */
void lb_periodic_prove(const struct lb_history_view *view, uint64_t start_ns,
                       const struct lb_scenario *scenario, struct lb_proof *ret_proof);

#endif
