/* Claims that end by themselves: a visibility timeout.
 *
 * A claimed item is invisible until visible_at; if its claimer has not completed it by then, the
 * next worker claims it again, without any recovery. The claim's number is the fence: completing,
 * failing and freeing ask for it, so that a claimer that comes late does no harm in the queue. Only
 * a fence there could have refused its writes elsewhere.
 *
 * With done=delete a completed item is deleted, as pgmq.delete() does.
 *
 * With recurring=yes completion makes an item invisible for the scenario's period, and then it is
 * claimed again.
 *
 * Used by pgmq (which completes by the item's number alone: complete-by-id), and SQS made it known.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_lease_queue = {
    .name = "lease-queue",
    .summary = "SKIP LOCKED with a visibility timeout, fenced completion",
    .origin = "pgmq; Amazon SQS",
    .changed = LB_TEXTS("a number that grows with each claim is the fence that completions "
                        "ask for; pgmq completes by the item's number alone (complete-by-id)"),
    .shape = LB_QUEUE,
    .is_lease = true,
    .claims = LB_CLAIMS_OWNED_ITEMS | LB_G_BIT(LB_G_RECOVERY),
    .twin = "complete-by-id",
    .options = LB_OPTIONS(LB_OPTION_RECURRING, LB_OPTION_DONE, LB_OPTION_ENDS),
    .flow = &lb_ordinary_flow,
};
