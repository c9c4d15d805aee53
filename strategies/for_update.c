/* A queue claimed with SELECT ... FOR UPDATE, which waits.
 *
 * All want the same first row: one gets it, the others wait in line behind its lock, and find, when
 * it is free, that it is no longer pending. PostgreSQL then returns no row at all though other
 * items are eligible (the LIMIT was spent on the row that dropped out): "empty" is not to be
 * believed here.
 *
 * A claim is right all the same, and marks one item.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_for_update = {
    .name = "for-update",
    .summary = "FOR UPDATE without SKIP LOCKED: right, slow, and empty without reason",
    .origin = "folklore; the first repair of a naive claim",
    .changed = lb_no_changes,
    .shape = LB_QUEUE,
    .needs = LB_CAP_ROW_LOCK,
    .claims = LB_CLAIMS_OWNED_ITEMS,
    .twin = "skip-locked",
    .flow = &lb_ordinary_flow,
};
