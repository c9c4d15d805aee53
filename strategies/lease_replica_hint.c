/* A lease that is looked at on a replica, and asked for again where it is written.
 *
 * The replica's answer is a hint: it spares the primary requests that would be refused anyway. The
 * UPDATE on the primary has the whole condition once more, and its answer counts. A lagging replica
 * may show a lease as held that is free: this costs time, but never admits a second holder.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_lease_replica_hint = {
    .name = "lease-replica-hint",
    .summary = "a lease: a replica is asked first, and the primary's UPDATE asks again",
    .origin = "repaired twin of lease-replica-look",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .is_lease = true,
    .keeps_fence = true,
    .needs = LB_CAP_REPLICA,
    .claims = LB_CLAIMS_LEASE,
    .twin = "lease-replica-look",
    .flow = &lb_ordinary_flow,
};
