/* A control that must be caught: consumers of a queue share one position and go on from there.
 *
 * A claim takes the next items after the position, and moves it. That is cheap, and correct for a
 * log without give-backs. An item that is given back lies behind the position as soon as another
 * worker has gone on, and is never read again; so does an item that becomes visible later than one
 * with a larger number.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_offset_claim = {
    .name = "offset-claim",
    .summary = "control: a shared position instead of a look at each item's status",
    .origin = "outbox tables that are polled by WHERE id > the last one",
    .changed = lb_no_changes,
    .shape = LB_QUEUE,
    .is_control = true,
    .claims = LB_CLAIMS_OWNED_ITEMS,
    .breaks = LB_BREAKS(
        {.guarantee = LB_G_NO_LOSS,
         .scenario = "give-back",
         .why = "an item that is given back lies behind the position and is never read again"}),
    .twin = "skip-locked",
    .flow = &lb_ordinary_flow,
};
