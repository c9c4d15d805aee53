/* From counters and history to the outcome. Private to bench/run. */
#ifndef LB_SETTLE_H
#define LB_SETTLE_H

#include "run_state.h"

/* settle.c: the server's counters, before and after; the outcome; the verdict. */
void lb_run_take_counters(struct lb_active_run *run, struct lb_fact **ret, size_t *ret_n);
/* Into the outcome: the counters now, minus those taken before. */
void lb_run_subtract_counters(struct lb_active_run *run);
int lb_run_settle(struct lb_active_run *run, struct lb_error *err);
int lb_run_judge(struct lb_active_run *run, struct lb_error *err);
/* Collects facts into a growing array; arg is a struct lb_fact_list. */
struct lb_fact_list {
    struct lb_fact **facts;
    size_t *n;
};
void lb_run_add_fact(void *arg, const char *name, const char *value);

#endif
