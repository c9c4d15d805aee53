/* A control that must be caught: a lease computed from a time before the wait.
 *
 * now() is the transaction's start, and even clock_timestamp() in the same UPDATE is read before
 * the statement waits: PostgreSQL computes the new row, finds the old one locked, waits, and, if
 * whoever held it changed nothing, writes what it had computed. The lease is granted with its time
 * partly, or wholly, over. It takes a session that only locks the row for a good part of the lease;
 * without one it holds, which is why no break is listed for it.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_lease_now = {
    .name = "lease-now",
    .summary = "control: lease from now(), read before the wait",
    .origin = "widespread",
    .shape = LB_LOCK,
    .is_control = true,
    .is_lease = true,
    .claims = LB_G_BIT(LB_G_EXCLUSIVE) | LB_G_BIT(LB_G_OWNER_RELEASE) | LB_G_BIT(LB_G_FENCED) |
              LB_G_BIT(LB_G_PROGRESS) | LB_G_BIT(LB_G_RECOVERY),
    .twin = "lease-update-safe",
    .flow = &lb_ordinary_flow,
};
