/* A control that must be caught: a lease whose release does not ask who holds it.
 *
 * A holder that overran its lease sets the row free under its successor, and a third gets in.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_release_unowned = {
    .name = "release-unowned",
    .summary = "control: release by the resource's name alone",
    .origin = "job_status and many others",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .is_control = true,
    .is_lease = true,
    .claims = LB_CLAIMS_LEASE,
    .breaks = LB_BREAKS({.guarantee = LB_G_OWNER_RELEASE,
                         .scenario = "overrun",
                         .why = "the release does not ask whose lock it is"},
                        {.guarantee = LB_G_EXCLUSIVE,
                         .scenario = "overrun",
                         .why = "a late release lets a third in beside the successor"}),
    .twin = "lease-upsert",
    .flow = &lb_ordinary_flow,
};
