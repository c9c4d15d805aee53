/* A control that must be caught: advisory-claim without the second look.
 *
 * The walk reads one snapshot. Between that and the lock, the holder may have completed the item
 * and unlocked it: the lock is granted, and the item, done, is run a second time.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_advisory_no_recheck = {
    .name = "advisory-no-recheck",
    .summary = "control: an advisory walk that believes its snapshot",
    .origin = "advisory-claim without its re-check",
    .changed = lb_no_changes,
    .shape = LB_QUEUE,
    .is_control = true,
    .needs = LB_CAP_ADVISORY,
    .claims = LB_CLAIMS_ITEMS,
    .breaks = LB_BREAKS(
        {.guarantee = LB_G_NO_DUPLICATE,
         .engines = "postgres",
         .why = "advisory locks ignore snapshots: an item that the walk saw pending is done "
                "when the lock is granted"}),
    .twin = "advisory-claim",
    .options = LB_OPTIONS(
        {.name = "walk",
         .default_value = "statement",
         .choices = LB_TEXTS("statement", "cursor"),
         .help = "the walk as one statement, or as a cursor: snapshot and locks are then steps "
                 "of their own, which explore can part"}),
    .flow = &lb_ordinary_flow,
};
