/* A control that must be caught: a lease that is looked at on a replica and taken on the primary.
 *
 * The writers are serialised by a row lock on the primary, and the second statement checks that the
 * lease is free. On one server this is correct: the holder of the row lock sees the commit of the
 * one before. Behind a router that sends plain SELECTs to a replica it is wrong: the replica
 * returns the state of a moment ago, and the primary is written without a second check.
 *
 * A standby for which commits wait (synchronous_commit = on) has received them, and need not have
 * applied them: it lags just as well. Only remote_apply waits until they can be read there.
 *
 * Source: https://docs.djangoproject.com/en/stable/topics/db/multi-db/ (database routers).
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_lease_replica_look = {
    .name = "lease-replica-look",
    .summary = "control: a replica says that the lease is free, and the primary is not asked again",
    .origin = "read and write splitting by a framework's router",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .is_control = true,
    .is_lease = true,
    .needs = LB_CAP_REPLICA,
    .claims = LB_CLAIMS_LEASE,
    .breaks = LB_BREAKS({.guarantee = LB_G_EXCLUSIVE,
                         .scenario = "mutex-hot",
                         .why = "the replica does not know the newest grant yet"}),
    .twin = "lease-replica-hint",
    .flow = &lb_ordinary_flow,
};
