/* A control table polled in identity order, as published.
 *
 * Take a number: insert one's own row. Wait: poll until fewer than :capacity rows with a smaller
 * number are left. Release: delete one's row. With capacity 1 it is a mutex, with X it admits the
 * first X in the queue; each resource has a limit of its own. A reader counts only the writers
 * ahead of it. With stale_ms, each poll also deletes requests older than that, holders' included.
 *
 * form=published is the table of two columns that the article starts from, without key or index:
 * one line, exclusive. The other columns are its extensions.
 *
 * read=locking (MariaDB: LOCK IN SHARE MODE) polls with a locking read, as SQL Server's default
 * isolation does without being asked: it waits for a row that is not committed yet. By whole
 * statements the protocol holds then. But within the INSERT the number is drawn before its row is
 * there, and a session that is stopped in between lets two in: form=parted makes them two
 * statements. The failures below are those of the protocol with snapshot reads. PostgreSQL has no
 * such read: FOR SHARE locks the rows that it sees.
 *
 * Known to fail where two transactions can write at once (PostgreSQL, MariaDB): numbers are drawn
 * in one order and committed in another. Session A draws 5, B draws 6, commits and sees no request
 * ahead, A commits and sees no request ahead. A bare INSERT leaves a window of microseconds (about
 * one grant in 10^4 with two workers); insert=transaction, which a scenario with a tx-pause
 * implies, puts it into a transaction of its own, like a client's; the length of the transaction is
 * that window. `explore` finds the bare form as well. On SQLite, with one writer, the protocol
 * holds.
 *
 * Source: SQL Server article of 2009 on a process control table; its defaults (1 s polls) are the
 * scenario's to set.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_fifo_poll = {
    .name = "fifo-poll",
    .summary = "control table polled in identity order: insert, wait to be first, delete",
    .origin = "\"process control table\" article, SQL Server, 2009",
    .changed = LB_TEXTS(
        "reads are from a snapshot, as these engines' defaults are; SQL Server's default waits "
        "for uncommitted rows, which read=locking does on MariaDB",
        "one's own place is the smallest number under one's id: the published sub-select is an "
        "error if two participants have one id",
        "form=published: MariaDB and SQLite number an indexed column only; IDENTITY is theirs",
        "form=extended: an index on the resource, and all of the article's extensions in one "
        "table: first X, resource, access type, stale requests",
        "the poll of 1 s is the scenario's (--poll)"),
    .shape = LB_LOCK,
    .is_shared_capable = true,
    .is_capacity_capable = true,
    .claims = LB_CLAIMS_LOCK | LB_G_BIT(LB_G_FIFO) | LB_G_BIT(LB_G_PROGRESS),
    .breaks = LB_BREAKS(
        {.guarantee = LB_G_EXCLUSIVE,
         .room = "stale_ms!=0",
         .why = "polls delete what is older than the limit, the wait in line included: a live "
                "holder's request, or one's own, and then no request is ahead"},
        {.guarantee = LB_G_FIFO,
         .room = "stale_ms!=0",
         .why = "a waiter whose request is older than the limit finds none of its own, and is "
                "let in before its turn"},
        {.guarantee = LB_G_EXCLUSIVE,
         .engines = "postgres,mariadb",
         .scenario = "mutex-pair",
         .room = "read=snapshot stale_ms=0",
         .why = "numbers commit in another order than they were drawn: a later one that "
                "commits first sees no request ahead"},
        {.guarantee = LB_G_FIFO,
         .engines = "postgres,mariadb",
         .scenario = "mutex-pair",
         .room = "read=snapshot stale_ms=0",
         .why = "a later number that commits first is granted first"}),
    .by_hand = "delete the dead one's request, or set stale_ms",
    .twin = "fifo-poll-safe",
    .options = LB_OPTIONS(
        {.name = "form",
         .default_value = "extended",
         .choices = LB_TEXTS("extended", "published", "parted"),
         .help = "with the article's extensions; the table of two columns; or that table, with "
                 "an INSERT that takes its number from a statement before it (MariaDB)"},
        {.name = "read",
         .default_value = "snapshot",
         .choices = LB_TEXTS("snapshot", "locking"),
         .help = "how a poll reads: from a snapshot, or waiting for uncommitted rows "
                 "(not on PostgreSQL)"},
        {.name = "insert",
         .default_value = "autocommit",
         .choices = LB_TEXTS("autocommit", "transaction"),
         .help = "the INSERT by itself, or in a transaction that tx-pause lengthens"},
        {.name = "stale_ms",
         .default_value = "0",
         .help = "each poll deletes requests older than this; 0: never"}),
    .flow = &lb_ordinary_flow,
};
