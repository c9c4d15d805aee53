/* One row per job, taken by a conditional UPDATE, as published: job_status.
 *
 * Every node runs the same UPDATE: it takes the job if no node runs it and it is due, or if its run
 * started longer than the timeout ago. One row changed: run the job; none: sleep. It is a scheduler
 * as well as a lock: next_run = now + period makes one node of many run the job once in each
 * period, and a dead node's run is picked up after the timeout.
 *
 * Known to fail, each as the article has it:
 *   progress       rows are inserted with the job's name only, next_run stays NULL, and
 *                  `next_run <= now` is never true: the job never runs (first_run=null, the
 *                  default; first_run=now must have been the state of the author's table)
 *   owner-release  the release does not ask who runs the job: a node that overran the timeout ends
 *                  its successor's run and lets a third one in
 *   exclusive      by the above, and because all times are the nodes' own clocks
 * The article calls one column last_run here and last_run_started there. It means the latter;
 * slip=yes takes it at its word, with a column for each: no node takes over a dead node's run.
 * times=second has datetimes of whole seconds, as DATETIME is by default on several servers: the
 * start of a lease is rounded (PostgreSQL) or cut (MariaDB, SQLite), and the lease is up to a
 * second shorter, or half a second longer, than the timeout says.
 *
 * Source: article of 2012 on scheduled jobs in a cluster.
 */
#include "strategy.h"

const struct lb_strategy lb_strategy_lease_update = {
    .name = "lease-update",
    .summary = "conditional UPDATE of a job_status row, with the nodes' clocks and a timeout",
    .origin = "\"job_status\" article on scheduled jobs in a cluster, 2012",
    .changed = LB_TEXTS(
        "times are integers, milliseconds by the node's clock; times=second has the datetimes",
        "last_run and last_run_started are one column; slip=yes has both",
        "first_run=now sets the due time that the published INSERT leaves NULL",
        "the node's sleep between two rounds is the scenario's (--poll)"),
    .shape = LB_LOCK,
    .is_lease = true,
    .claims = LB_CLAIMS_SESSION_LOCK,
    .breaks = LB_BREAKS(
        {.guarantee = LB_G_PROGRESS,
         .room = "first_run=null",
         .without = "first_run=now",
         .why = "next_run starts as NULL, and NULL <= now is not true: never granted"},
        {.guarantee = LB_G_OWNER_RELEASE,
         .options = "first_run=now",
         .scenario = "overrun",
         .room = "slip=no",
         .why = "the release does not ask whose run it ends"},
        {.guarantee = LB_G_EXCLUSIVE,
         .options = "first_run=now",
         .scenario = "overrun",
         .room = "times=ms slip=no",
         .why = "an overrun node's release ends its successor's run and lets a third in"},
        {.guarantee = LB_G_EXCLUSIVE,
         .options = "first_run=now times=second",
         .scenario = "overrun",
         .why = "in datetimes of whole seconds the start of a lease is cut or rounded, and the "
                "lease is over up to a second early"}),
    .twin = "lease-update-safe",
    .options = LB_OPTIONS(
        {.name = "first_run",
         .default_value = "null",
         .choices = LB_TEXTS("null", "now"),
         .help = "next_run of a new job: null as published, or now"},
        {.name = "times",
         .default_value = "ms",
         .choices = LB_TEXTS("ms", "second"),
         .help = "milliseconds, or datetimes of whole seconds"},
        {.name = "slip",
         .default_value = "no",
         .choices = LB_TEXTS("no", "yes"),
         .help = "yes: last_run is written and last_run_started is asked, as in the text"}),
    .flow = &lb_ordinary_flow,
};
