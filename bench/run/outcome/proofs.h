/* What a scenario of its own proves beside the strategy's guarantees. Private to bench/run.
 *
 * check: can it be proved of this strategy? 0 or LB_E_UNSUPPORTED, once the team is made. prove,
 * tell: from the history, in words and a verdict; start_ns: of the first phase.
 */
#ifndef LB_PROOFS_H
#define LB_PROOFS_H

#include "run_state.h"

/* Was a job with a period run once in each? */
void lb_periodic_prove(const struct lb_history_view *view, uint64_t start_ns,
                       const struct lb_scenario *scenario, struct lb_proof *ret_proof);
/* Does a queue of recurring work keep up, until end_ns? */
void lb_overdue_tell(const struct lb_history_view *view, uint64_t start_ns, uint64_t end_ns,
                     const struct lb_scenario *scenario, struct lb_proof *ret_proof);

/* Does the strategy know classes, if there are any? Did every item go to a worker of its class? */
int lb_classes_check(const struct lb_active_run *run, struct lb_error *err);
void lb_classes_prove(const struct lb_active_run *run, struct lb_proof *ret_proof);

/* Can what the scenario wants be counted, and brought back? Counts, once the workers have ended;
 * and compares that with the history. */
int lb_ledger_check(const struct lb_active_run *run, struct lb_error *err);
int lb_ledger_count(struct lb_active_run *run, struct lb_error *err);
void lb_ledger_prove(const struct lb_active_run *run, const struct lb_history_view *view,
                     struct lb_proof *ret_proof);

#endif
