/* A task list claimed with SELECT ... FOR UPDATE NOWAIT, as published and repaired.
 *
 * Allocate: lock the first New row of the task class without waiting; if another session has it,
 * the statement is refused at once and the caller backs off and tries again (five tries, 1 s apart
 * in the article: --tries, --poll and --backoff here). Then set it Active and commit at once: the
 * row lock lasts for two statements, the state does the rest. One item per claim.
 *
 * Each try is a transaction of its own, because on PostgreSQL a refusal aborts the transaction.
 * All ten procedures of the article are sections: create_driver setup, drop_driver teardown,
 * populate_driver put, allocate_target_item claim, complete, error, free, reset_all_targets
 * reset-all, clear_error clear-error and clear_all_errors clear-all-errors. An operation on an item
 * in the wrong state, or of another owner, changes nothing and is refused.
 *
 * form=published is the article's: no ORDER BY, no second look at the row before the UPDATE, five
 * SELECTs for each claim (the loop of tries has no EXIT), and completing, failing and freeing do
 * not ask whose item it is. An item that an operator took from a slow worker (recover) is so
 * completed under the hands of the next one.
 *
 * offset=random tries one of the first rows instead of the very first: fewer collisions, no order.
 *
 * recurring=yes (with offset=first): a Complete row is due again after the scenario's period, which
 * is what the article's weekly tasks had reset_all_targets for.
 *
 * Limit: all workers want the same first row, so that most tries are refused under load. SQLite has
 * no row locks: BEGIN IMMEDIATE is refused or granted there.
 *
 * Source: article of 1999 on parallel processing from a task list, Oracle.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_nowait = {
    .name = "nowait",
    .summary = "task list: FOR UPDATE NOWAIT on the first new row, back off when refused",
    .origin = "article on a parallel allocation list, Oracle, 1999",
    .changed = LB_TEXTS(
        "each try is a transaction of its own; the article's COMMIT at the entry of the "
        "procedure, which ends whatever its caller had open, is that transaction's start",
        "the five tries, 1 s apart, after a refusal are the harness's: --tries 5 --poll 1s "
        "--backoff fixed; a worker that was refused five times gave up, as c_row_locked says",
        "form=published: rowid is the number of the row; owner, token and since are written, "
        "and no condition asks for owner and token",
        "SQLite has no row locks: BEGIN IMMEDIATE is refused instead of the row",
        "form=safe: oldest first, a second look in the UPDATE, owner and token in completions; "
        "recover, offset and recurring are additions"),
    .shape = LB_QUEUE,
    .claims = LB_CLAIMS_OWNED_ITEMS,
    .options = LB_OPTIONS(
        {.name = "form",
         .default_value = "safe",
         .choices = LB_TEXTS("safe", "published"),
         .help = "ordered, and completed by owner and token; or the article's statements"},
        {.name = "offset",
         .default_value = "first",
         .choices = LB_TEXTS("first", "random"),
         .help = "try the first new row, or one of the first :spread"},
        {.name = "spread",
         .default_value = "20",
         .help = "how many rows offset=random chooses from"},
        LB_OPTION_RECURRING),
    .flow = &lb_ordinary_flow,
};
