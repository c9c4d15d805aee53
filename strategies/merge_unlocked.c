/* A control that must be caught: MERGE without a lock on the table.
 *
 * MERGE looks like one step and is not: its source rows were read before it waited for the row. The
 * second of two claimers updates the row that the first one has just taken. (As an upsert, two
 * MERGEs take the NOT MATCHED arm for one key, and all but one fail with a duplicate key.)
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_merge_unlocked = {
    .name = "merge-unlocked",
    .summary = "control: MERGE without the table lock claims items twice",
    .origin = "merge-table-lock without its lock",
    .changed = lb_no_changes,
    .shape = LB_QUEUE,
    .is_control = true,
    .needs = LB_CAP_MERGE,
    .claims = LB_CLAIMS_ITEMS,
    .breaks = LB_BREAKS({.guarantee = LB_G_NO_DUPLICATE,
                         .engines = "postgres",
                         .why = "the source of the MERGE was read before it waited for the row"}),
    .twin = "merge-table-lock",
    .flow = &lb_ordinary_flow,
};
