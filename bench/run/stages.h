/* The phases of a scenario while it runs. Private to bench/run. */
#ifndef LB_STAGES_H
#define LB_STAGES_H

#include "run_state.h"

/* The measured part begins: with its first phase. */
void lb_stages_begin(struct lb_active_run *run);
/* Begins and ends phases as their times come; the controlling thread, often. */
void lb_stages_watch(struct lb_active_run *run);
/* When the next phase is to begin; UINT64_MAX: there is none. */
uint64_t lb_stages_next_ns(const struct lb_active_run *run);
/* The measured part is over. */
void lb_stages_end(struct lb_active_run *run);
#endif
