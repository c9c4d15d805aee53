/* A queue claimed with FOR UPDATE SKIP LOCKED: "checking out" records.
 *
 * One statement selects the oldest pending items that are not locked, and marks them. A status
 * column with a lookup table and a foreign key, and the time of the last change of status, after
 * which the oldest goes first. With recurring=yes a complete item is due again after the scenario's
 * period.
 *
 * form says how the sub-select is tied to the UPDATE:
 *   cte   in a CTE, evaluated once: a claim of n marks at most n
 *   eq    id = (SELECT ... LIMIT 1), one item per claim
 *   any   id = ANY (ARRAY (SELECT ...)), evaluated once
 *   in    id IN (SELECT ...): wrong. The planner may run the sub-select again for each row of the
 *         outer table, and each run locks, and returns, the next n. It takes a plan that a table
 *         without a primary key gets from statistics of when it was empty; then LIMIT 1 marks all.
 *   update  UPDATE TOP (1), the question's first statement: no order, no hint (MariaDB: UPDATE ...
 *         LIMIT 1; the others have no such statement)
 *
 * With done=delete a completed item is deleted, as pg-boss and graphile-worker do: claim, work,
 * then delete. In delete-on-claim the claim itself deletes the item.
 *
 * SKIP LOCKED is no queue discipline: an item whose claimer rolls back, or is being changed at that
 * moment, is passed over and taken later. Skipping costs time linear in the locked items ahead.
 * SQLite has one writer and nothing to skip; the UPDATE there is one statement, too.
 *
 * Source: question and answers on checking out records, SQL Server (READPAST, ROWLOCK, UPDLOCK,
 * OUTPUT). The CTE form is that of pgmq, River, graphile-worker, Oban and pg-boss; the IN form that
 * of delayed_job and db-scheduler.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_skip_locked = {
    .name = "skip-locked",
    .summary = "SKIP LOCKED, status column with lookup table, oldest first",
    .origin = "\"checking out\" records, SQL Server; pgmq, River, graphile-worker, Oban, pg-boss",
    .changed = LB_TEXTS(
        "WITH (READPAST, ROWLOCK, UPDLOCK) is FOR UPDATE SKIP LOCKED, TOP 1 is LIMIT, OUTPUT "
        "is RETURNING; MariaDB numbers the claim and reads it back",
        "a column class, so that several kinds of items share the table; owner and token, "
        "which completions ask for: the answer completes by the record's number alone "
        "(complete-by-id)",
        "a status Complete, and with recurring=yes a condition on the time: the answer has one "
        "status for completed and pending records, and no period",
        "form=eq, any and in are others' ways to say the same"),
    .shape = LB_QUEUE,
    .claims = LB_CLAIMS_OWNED_ITEMS,
    .breaks = LB_BREAKS(
        {.guarantee = LB_G_BOUNDED_CLAIM,
         .engines = "postgres",
         .scenario = "overclaim",
         .why = "the sub-select is run again for each row of the outer table: LIMIT 1 marks many",
         .options = "form=in"}),
    .twin = "naive-claim",
    .options =
        LB_OPTIONS({.name = "form",
                    .default_value = "cte",
                    .choices = LB_TEXTS("cte", "eq", "any", "in", "update"),
                    .help = "how the sub-select is tied to the UPDATE"},
                   LB_OPTION_RECURRING, LB_OPTION_DONE,
                   {.name = "ends",
                    .default_value = "each",
                    .choices = LB_TEXTS("each", "batch"),
                    .help = "items of a claim are ended one by one, or all by one statement"}),
    .flow = &lb_ordinary_flow,
};
