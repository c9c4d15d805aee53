/* A row inserted to lock, deleted to release: the primary key excludes.
 *
 * insert_form=error lets the second INSERT fail with a duplicate key; insert_form=ignore suppresses
 * the error (ON CONFLICT DO NOTHING, INSERT IGNORE). Nothing ends the hold of a holder that died:
 * its row stays until an operator deletes it, and no statement can distinguish that row from a
 * living holder's.
 *
 * Source: answer on checking out records, SQL Server: a separate lock table.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_lock_row = {
    .name = "lock-row",
    .summary = "insert a row to lock, delete it to release",
    .origin = "\"checking out\" records, SQL Server: a lock table",
    .changed = LB_TEXTS(
        "a column says who has the row, and the release asks for it: the answer deletes by the "
        "resource alone",
        "insert_form=ignore is an addition for engines that can insert without an error"),
    .shape = LB_LOCK,
    .claims = LB_CLAIMS_LOCK,
    .by_hand = "delete the dead owner's row",
    .twin = "lease-upsert",
    .options = LB_OPTIONS({.name = "insert_form",
                           .default_value = "error",
                           .choices = LB_TEXTS("error", "ignore"),
                           .help = "a duplicate key is an error, or ignored"}),
    .flow = &lb_ordinary_flow,
};
