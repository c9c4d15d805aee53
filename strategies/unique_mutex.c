/* A partial unique index over what is running: the second INSERT of a running row is a duplicate.
 *
 * The lock is a by-product of the record of runs. MariaDB has no partial index: a generated column
 * that is NULL unless the row is running carries the unique key there.
 *
 * Used by procrastinate (queueing locks) and kine.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_unique_mutex = {
    .name = "unique-mutex",
    .summary = "partial unique index over running rows",
    .origin = "procrastinate, kine",
    .changed = LB_TEXTS("only the form that they share: a unique index over the rows "
                        "in hand; the table is lockbench's"),
    .shape = LB_LOCK,
    .claims = LB_CLAIMS_LOCK,
    .by_hand = "end the dead owner's row",
    .twin = "lock-row",
    .flow = &lb_ordinary_flow,
};
