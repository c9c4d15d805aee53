/* Sampled wait events of sessions. Private to bench/run. */
#ifndef LB_WAITS_H
#define LB_WAITS_H

#include "run_state.h"

/* waits.c: samples them, if it is wanted and time. */
#define LB_SAMPLE_NS UINT64_C(20000000)
bool lb_waits_wanted(const struct lb_active_run *run);
void lb_waits_sample(struct lb_active_run *run);

#endif
