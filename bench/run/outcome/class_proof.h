/* Did every item go to a worker of its class? Private to bench/run. */
#ifndef LB_CLASS_PROOF_H
#define LB_CLASS_PROOF_H

#include "run_state.h"

/* Does the strategy know classes, if there are any? 0 or LB_E_UNSUPPORTED. */
int lb_classes_check(const struct lb_active_run *run, struct lb_error *err);
void lb_classes_prove(const struct lb_active_run *run, struct lb_proof *ret_proof);

#endif
