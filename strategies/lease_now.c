/* A control that must be caught: a lease computed from a time before the wait.
 *
 * now() is the transaction's start, and even clock_timestamp() in the same UPDATE is read before
 * the statement waits: PostgreSQL computes the new row, finds the old one locked, waits, and, if
 * the other session changed nothing, writes the computed row. The lease is granted after part or
 * all of its time is over, and the next worker is let in beside its holder. It takes a session that
 * only locks the row for a good part of the lease, as in the scenario blocker; without one it
 * holds.
 *
 * Seen from outside, the lease may as well have been granted, and have run, before the wait. So the
 * statement says how much of it is left, by a clock that it reads after the wait (PostgreSQL).
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_lease_now = {
    .name = "lease-now",
    .summary = "control: lease from now(), read before the wait",
    .origin = "widespread",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .is_control = true,
    .is_lease = true,
    .claims = LB_CLAIMS_LEASE,
    .breaks = LB_BREAKS({.guarantee = LB_G_EXCLUSIVE,
                         .engines = "postgres",
                         .scenario = "blocker",
                         .faults = "blocker",
                         .why = "the end of the lease is computed before the wait for the row"}),
    .twin = "lease-update-safe",
    .flow = &lb_ordinary_flow,
};
