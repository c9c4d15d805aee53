/* A control that must be caught: a visibility timeout, and completion by the item's number alone.
 *
 * A claimer that overran its lease completes the item under the hands of the one that has it now.
 * The second one's work is done twice, or half, and its own completion finds nothing.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_complete_by_id = {
    .name = "complete-by-id",
    .summary = "control: completion does not ask whose claim it is",
    .origin = "\"checking out\" records, SQL Server; pgmq delete and archive by msg_id",
    .changed = LB_TEXTS(
        "only the missing condition is pgmq's, which documents that it is the caller's to set "
        "a visibility timeout that is long enough; the table is lockbench's"),
    .shape = LB_QUEUE,
    .is_control = true,
    .is_lease = true,
    .claims = LB_CLAIMS_OWNED_ITEMS | LB_G_BIT(LB_G_RECOVERY),
    .breaks = LB_BREAKS({.guarantee = LB_G_OWNER_RELEASE,
                         .scenario = "queue-overrun",
                         .why = "a late claimer completes what another one has by now"}),
    .twin = "lease-queue",
    .options = LB_OPTIONS(LB_OPTION_ENDS),
    .flow = &lb_ordinary_flow,
};
