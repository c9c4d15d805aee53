/* Counts of the items, beside the history. Private to bench/run. */
#ifndef LB_LEDGER_H
#define LB_LEDGER_H

#include "run_state.h"

/* ledger.c: can what the scenario wants be counted, and brought back? After the team is made.
 * Counts, once the workers have ended; and compares that with the history. */
int lb_ledger_check(const struct lb_active_run *run, struct lb_error *err);
int lb_ledger_count(struct lb_active_run *run, struct lb_error *err);
void lb_ledger_prove(const struct lb_active_run *run, const struct lb_history_view *view,
                     struct lb_proof *ret_proof);

#endif
