/* A whole table locked for as long as the hold lasts.
 *
 * One lock for all resources: they exclude each other, which is more than required. The modes are
 * those of merge-table-lock. On SQLite the transaction locks the database.
 *
 * Source: answer on checking out records, SQL Server: TABLOCKX.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_table_lock = {
    .name = "table-lock",
    .summary = "LOCK TABLE held in a transaction",
    .origin = "\"checking out\" records, SQL Server: TABLOCKX",
    .changed = LB_TEXTS("an empty table is locked beside the records; the answer puts "
                        "TABLOCKX on their own table"),
    .shape = LB_LOCK,
    .ends_with_session = true,
    .claims = LB_CLAIMS_SESSION_LOCK,
    .twin = "row-lock",
    .options =
        LB_OPTIONS({.name = "lock_mode",
                    .default_value = "access exclusive",
                    .choices = LB_TEXTS("access exclusive", "exclusive", "share row exclusive"),
                    .help = "mode of the table lock"}),
    .flow = &lb_ordinary_flow,
};
