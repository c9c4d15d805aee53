/* A lease taken by INSERT ... ON CONFLICT DO UPDATE ... WHERE it has expired.
 *
 * One statement makes the row if there is none and takes it over if its time is up. ON CONFLICT
 * locks the row before it evaluates the WHERE and the SET, so that the server's clock is read after
 * any wait. Renewal and release ask for the owner and the fence, and for a lease that is not over.
 *
 * Used by ShedLock (which has neither fence nor, by default, the server's clock).
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_lease_upsert = {
    .name = "lease-upsert",
    .summary = "lease by upsert with the server's clock, fenced",
    .origin = "ShedLock",
    .changed = LB_TEXTS(
        "times come from the server's clock, read after any wait, and each grant has a fence "
        "number; ShedLock uses its clients' clocks by default, and has no fence"),
    .shape = LB_LOCK,
    .is_lease = true,
    .claims = LB_CLAIMS_LEASE,
    .twin = "release-unowned",
    .flow = &lb_ordinary_flow,
};
