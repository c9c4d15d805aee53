/* A lease whose fence survives the loss of its grants: lease-update-safe with an epoch.
 *
 * After an asynchronous failover the row is as the standby last saw it, and a fence that counts
 * from there repeats the numbers of the grants that were lost: the guarded data cannot tell the two
 * holders apart. Here the fence is never below the epoch, which each promotion raises: PostgreSQL's
 * timeline, the first eight digits of the WAL file that is written now, times 2^40. So every grant
 * after the promotion has a larger fence than every grant before it.
 *
 * Exclusion cannot be had: a lock whose acknowledged grant was lost is granted again while its
 * holder lives, in any protocol; the guard at the data must refuse the older of the two.
 *
 * Limits. The order of grants by two primaries at once (split brain) is not their fences' order:
 * the old primary goes on granting smaller ones, which a guard refuses. Two standbys that are
 * promoted without knowledge of each other take the same timeline, as does a copy that was restored
 * to an earlier time without the archive's history files; then the fences may repeat. 2^40 grants
 * on one timeline, and 2^23 timelines, are too many. pg_control_checkpoint() is no substitute: it
 * has the new timeline only after the next checkpoint.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_lease_epoch = {
    .name = "lease-epoch",
    .summary = "lease-update-safe whose fence a promotion raises: the timeline is part of it",
    .origin = "repaired twin of lease-update-safe for asynchronous standbys",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .is_lease = true,
    .keeps_fence = true,
    .claims = LB_CLAIMS_LEASE,
    .breaks = LB_BREAKS(
        {.guarantee = LB_G_FENCED,
         .engines = "postgres",
         .topologies = "async,sync",
         .faults = "partition",
         .why = "two primaries at once: the old one grants smaller fences than the new one"}),
    .twin = "lease-update-safe",
    .flow = &lb_ordinary_flow,
};
