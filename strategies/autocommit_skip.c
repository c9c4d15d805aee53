/* A control that must be caught: SELECT ... FOR UPDATE SKIP LOCKED in a transaction of its own.
 *
 * The lock ends with the statement that took it. Both of two claimers can read row 1 before either
 * has marked it, and the UPDATE that follows asks for no state.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_autocommit_skip = {
    .name = "autocommit-skip",
    .summary = "control: the lock is gone before the UPDATE",
    .origin = "widespread: FOR UPDATE with autocommit on",
    .changed = lb_no_changes,
    .shape = LB_QUEUE,
    .is_control = true,
    .claims = LB_CLAIMS_ITEMS,
    .breaks = LB_BREAKS(
        {.guarantee = LB_G_NO_DUPLICATE,
         .why = "the lock is gone at the end of the SELECT, and the UPDATE asks for no state"}),
    .twin = "skip-locked",
    .flow = &lb_ordinary_flow,
};
