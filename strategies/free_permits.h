/* How many permits of a resource can be taken: see free_permits.c. */
#ifndef LB_FREE_PERMITS_H
#define LB_FREE_PERMITS_H

#include "strategy.h"

/* An answer, with the number on LB_OK, or an error. */
int lb_permits_ask(const struct lb_strategy_plan *plan, struct lb_runner *runner, uint32_t resource,
                   int64_t *ret_free, struct lb_error *err);

#endif
