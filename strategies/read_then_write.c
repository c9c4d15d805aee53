/* A control that must be caught: read that the lock is free, then write that it is mine.
 *
 * Two statements, each right by itself. Whoever reads between the other's two holds it as well, on
 * every engine.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_read_then_write = {
    .name = "read-then-write",
    .summary = "control: look, then write",
    .origin = "the first draft of every lock",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .is_control = true,
    .claims = LB_CLAIMS_LOCK,
    .breaks = LB_BREAKS({.guarantee = LB_G_EXCLUSIVE,
                         .why = "two workers read \"free\" before either has written"}),
    .by_hand = "clear the dead owner's mark",
    .twin = "lease-upsert",
    .flow = &lb_ordinary_flow,
};
