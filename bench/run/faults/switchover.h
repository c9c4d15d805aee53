/* Failovers, and the worker that is inside meanwhile. Private to bench/run. */
#ifndef LB_SWITCHOVER_H
#define LB_SWITCHOVER_H

#include "run_state.h"

/* Failovers (switchover.c): a holder of a lock (request) or of an item that was granted what it
 * has while replication stood still stays inside until another took over. */
enum lb_switchover {
    LB_SWITCHOVER_NONE,
    LB_SWITCHOVER_PREPARED, /* no worker asks: the other servers must see every lock as free */
    LB_SWITCHOVER_STALLED,  /* a holder is wanted */
    LB_SWITCHOVER_PLACED,   /* there is one: the primary may be lost */
    LB_SWITCHOVER_OVER      /* another has its place */
};
/* Before it asks. */
void lb_switchover_wait(struct lb_worker *worker);
void lb_switchover_hold(struct lb_worker *worker, const struct lb_request *request,
                        const struct lb_item *item);

#endif
