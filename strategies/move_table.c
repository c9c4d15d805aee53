/* Ready items are rows of one table, claimed ones of another: a claim moves them.
 *
 * Each table is small and has the one index that it needs, and claiming touches no row of the jobs
 * themselves. Ready, claimed, failed and done items can be counted without scanning the rest.
 *
 * Used by solid_queue.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_move_table = {
    .name = "move-table",
    .summary = "ready rows move to a claimed table",
    .origin = "solid_queue",
    .changed = LB_TEXTS("two tables and one move; solid_queue's semaphores, "
                        "priorities and recurring tasks are left out"),
    .shape = LB_QUEUE,
    .claims = LB_CLAIMS_OWNED_ITEMS,
    .twin = "skip-locked",
    .flow = &lb_ordinary_flow,
};
