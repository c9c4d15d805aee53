/* The model for the judge of a run, and its text in the history. Private to bench/run. */
#ifndef LB_RUN_MODEL_H
#define LB_RUN_MODEL_H

#include "run_state.h"

struct lb_model lb_run_model(const struct lb_active_run *run, bool complete, uint64_t end_ns);
/* Writes what a reader of the history's file needs. */
int lb_run_write_meta(struct lb_active_run *run, const struct lb_model *model,
                      struct lb_error *err);

#endif
