/* A control that must be caught: a lease whose end is written and never read.
 *
 * The row says until when it is held, and who asks for it looks at the holder's name alone. While
 * everybody lives nothing is wrong; after the first death nobody has the lock again.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_lease_unread = {
    .name = "lease-unread",
    .summary = "control: the lease's end is written, and nobody looks at it",
    .origin = "running_at flags with a time beside them",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .is_control = true,
    .is_lease = true,
    .claims = LB_G_BIT(LB_G_EXCLUSIVE) | LB_G_BIT(LB_G_OWNER_RELEASE) | LB_G_BIT(LB_G_FENCED) |
              LB_G_BIT(LB_G_RECOVERY),
    .breaks =
        (const struct lb_break[]){
            {.guarantee = LB_G_RECOVERY,
             .scenario = "dead-holder",
             .why = "the row of a dead holder stays taken: its time is up, but nobody asks",
             .faults = "kill"},
            {0},
        },
    .twin = "lease-upsert",
    .by_hand = "clear the dead owner's name",
    .flow = &lb_ordinary_flow,
};
