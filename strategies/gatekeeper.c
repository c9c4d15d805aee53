/* A plain claim inside of an advisory lock: one claimer at a time passes the gate.
 *
 * The sub-select needs no lock of its own, as no other session claims meanwhile. The lock is held
 * for the claim only, until the COMMIT, so that the next session through the gate sees that the row
 * was taken, and waits where the oldest row is locked by others.
 *
 * form=published releases the lock before the COMMIT, as the answer has it, and so the next one
 * through the gate does not see what was taken: it is the hints inside (READPAST, ROWLOCK, UPDLOCK:
 * SKIP LOCKED) that keep the two apart, and the gate does nothing. Without them (gatekeeper-early)
 * items are claimed twice. With them it steps over rows that others have locked.
 *
 * Completion does not pass it. MariaDB: GET_LOCK, and the lock is given up after the claim. With
 * recurring=yes a complete item is due again after the scenario's period.
 *
 * Source: answer on checking out records, SQL Server (sp_getapplock around the claim).
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_gatekeeper = {
    .name = "gatekeeper",
    .summary = "a claim inside of an advisory lock",
    .origin = "\"checking out\" records, SQL Server: sp_getapplock",
    .changed = LB_TEXTS(
        "form=published: a session's advisory lock, or GET_LOCK, stands for sp_getapplock, and "
        "SKIP LOCKED for READPAST, ROWLOCK and UPDLOCK; MariaDB numbers the claim and reads it "
        "back",
        "form=commit: the lock is released by the COMMIT (MariaDB: after the claim, whose "
        "statements commit by themselves), and there are no hints inside",
        "a column class; owner and token, which completions ask for: the answer completes by "
        "the record's number alone"),
    .shape = LB_QUEUE,
    .needs = LB_CAP_ADVISORY,
    .claims = LB_CLAIMS_OWNED_ITEMS,
    .twin = "gatekeeper-early",
    .options = LB_OPTIONS(
        {.name = "form",
         .default_value = "commit",
         .choices = LB_TEXTS("commit", "published"),
         .help = "the lock is released by the COMMIT, or, as published, before it with hints "
                 "inside"},
        LB_OPTION_RECURRING),
    .flow = &lb_ordinary_flow,
};
