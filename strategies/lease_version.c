/* A lease without any shared clock: take over when the version stood still for a lease period.
 *
 * The holder moves the row's version while it lives. A waiter remembers the version and the time by
 * its own clock, read after the answer that showed it: a time read before may be older than the
 * grant. When the version is the same a whole lease later, the holder is taken for dead and the row
 * is taken by a conditional UPDATE on the version that was seen. Clocks need not agree, only run at
 * about the same rate; a take-over costs at least one lease and two polls from the first look.
 *
 * Used by pglock, after Amazon's DynamoDB lock client.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_lease_version = {
    .name = "lease-version",
    .summary = "steal when the version stood still for one lease period",
    .origin = "pglock; DynamoDB lock client",
    .changed = LB_TEXTS("the version is read and compared on the server, in one "
                        "UPDATE; the table is lockbench's"),
    .shape = LB_LOCK,
    .is_lease = true,
    .claims = LB_CLAIMS_LEASE,
    .flow = &lb_ordinary_flow,
};
