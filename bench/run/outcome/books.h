/* How many items a run has put and completed so far. Private to bench/run. */
#ifndef LB_BOOKS_H
#define LB_BOOKS_H

#include "run_state.h"

/* The number of completions so far that no other worker's claim explains: those that were accepted,
 * and, where nothing takes an item from its worker, those that found nothing to complete. */
uint64_t lb_run_completions(const struct lb_active_run *run);
/* The number of items that were put, or are being put. */
uint64_t lb_run_items_put(const struct lb_active_run *run);

#endif
