/* A control that must be caught: a lease whose fence belongs to the row, not to the grant.
 *
 * The fence is given when the row is made, and the upsert that takes an old row over leaves it as
 * it is: every holder has the same one. The guarded data cannot tell a late write from its
 * successor's.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_lease_same_fence = {
    .name = "lease-same-fence",
    .summary = "control: a worker that takes a lease over gets the fence of the one before",
    .origin = "versions that only some of the writers raise",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .is_control = true,
    .is_lease = true,
    .claims = LB_CLAIMS_LEASE,
    .breaks = LB_BREAKS({.guarantee = LB_G_FENCED,
                         .scenario = "mutex-hot",
                         .why = "the fence does not grow with the grants"}),
    .twin = "lease-upsert",
    .flow = &lb_ordinary_flow,
};
