/* A control that must be caught: a lease whose end is written and never read.
 *
 * The row has the lease's end, but acquiring reads only the holder's name. While all workers live
 * nothing is wrong; after the first death no worker gets the lock again.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_lease_unread = {
    .name = "lease-unread",
    .summary = "control: the lease's end is written, but never read",
    .origin = "running_at flags with a time beside them",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .is_control = true,
    .is_lease = true,
    .claims = LB_CLAIMS_LOCK | LB_G_BIT(LB_G_FENCED) | LB_G_BIT(LB_G_RECOVERY),
    .breaks = LB_BREAKS(
        {.guarantee = LB_G_RECOVERY,
         .scenario = "dead-holder",
         .why = "the row of a dead holder stays taken: its lease is over, but no statement "
                "checks this",
         .faults = "kill"}),
    .twin = "lease-upsert",
    .by_hand = "clear the dead owner's name",
    .flow = &lb_ordinary_flow,
};
