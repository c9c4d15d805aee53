/* A queue worked with MERGE under a table lock, as published and repaired.
 *
 * One statement serves claim and finish: of the row that it is joined to, if AgentId is set the row
 * was processed and is deleted, else AgentId is set. It runs under a lock on the table, whose mode
 * is an option, because the author found the weaker hint "less predictable". The modes:
 *   share                 TABLOCK: two may have it, and each then waits for the other's with its
 *                         MERGE: a deadlock, again and again
 *   share row exclusive   keeps out other MERGEs and all writers; readers go on (the least that is
 *                         right)
 *   exclusive             the same, and SELECT ... FOR UPDATE waits too
 *   access exclusive      readers wait as well (TABLOCKX)
 * form=published is the article's statement: it takes any row, also another agent's row, which it
 * deletes. The next poll ends the work of a slow agent, or of one that fails later: at most once.
 * The other forms take free rows only, and delete by owner and token. form=read finds the taken
 * rows by reading back the rows that the transaction wrote; form=returning uses MERGE ... RETURNING
 * merge_action(), from PostgreSQL 17. With done=keep a completed item goes to a second table, so
 * that reset-all can bring it back; as published it is deleted.
 *
 * SQLite: no MERGE; BEGIN IMMEDIATE (or EXCLUSIVE for the strongest mode) around UPDATE and DELETE
 * ... RETURNING. MariaDB: no MERGE; LOCK TABLES ... WRITE, which commits an open transaction and
 * cannot be rolled back: the effect of each statement stays.
 *
 * Source: article of 2014 on a table as queue, SQL Server.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_merge_table_lock = {
    .name = "merge-table-lock",
    .summary = "MERGE under a table lock: one statement claims and finishes",
    .origin = "article on a queue table with MERGE and TABLOCKX, SQL Server, 2014",
    .changed = LB_TEXTS(
        "form=published: LOCK TABLE stands for WITH (TABLOCKX) and (TABLOCK), and a read in "
        "the "
        "same transaction for OUTPUT; MariaDB and SQLite, which have no MERGE, read one row "
        "and delete or take it, under the lock",
        "form=published: a column class; taken_on and token, which no published condition asks "
        "for; completing reads whether the row is still there, and writes nothing",
        "other forms: a claim takes free rows only, oldest first, and up to n; completing "
        "deletes by owner and token; error, free, clear-error, clear-all-errors, reset-all and "
        "recover are additions"),
    .shape = LB_QUEUE,
    .claims = LB_CLAIMS_OWNED_ITEMS | LB_G_BIT(LB_G_FIFO),
    .breaks = LB_BREAKS(
        {.guarantee = LB_G_NO_LOSS,
         .options = "form=published",
         .scenario = "steady",
         .faults = "kill",
         .room = "form=published",
         .why = "the next poll deletes the row that an agent has in hand: a dead agent's row "
                "is lost"},
        {.guarantee = LB_G_FIFO,
         .engines = "postgres",
         .options = "form=published",
         .scenario = "steady",
         .room = "form=published",
         .why = "the article's statement takes any row, in no order"}),
    .twin = "merge-unlocked",
    .options = LB_OPTIONS(
        {.name = "lock_mode",
         .default_value = "share row exclusive",
         .choices = LB_TEXTS("share row exclusive", "exclusive", "access exclusive", "share"),
         .help = "mode of the table lock"},
        {.name = "form",
         .default_value = "read",
         .choices = LB_TEXTS("read", "returning", "published"),
         .help = "how a claim learns what it took; published: the article's statement"},
        {.name = "done",
         .default_value = "delete",
         .choices = LB_TEXTS("delete", "keep"),
         .help = "what becomes of completed items; reset-all needs keep"}),
    .flow = &lb_ordinary_flow,
};
