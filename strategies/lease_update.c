/* One row per job, taken by a conditional UPDATE, as published: job_status.
 *
 * Every node runs the same UPDATE: it takes the job if nobody runs it and it is due, or if whoever
 * runs it started longer than the timeout ago. One row changed: run the job; none: sleep. It is a
 * scheduler as well as a lock: next_run = now + period makes one node of many run the job once in
 * each period, and a dead node's run is picked up after the timeout.
 *
 * Known to fail, each as the article has it:
 *   progress       rows are inserted with the job's name only, next_run stays NULL, and
 *                  `next_run <= now` is never true: the job never runs (first_run=null, the
 *                  default; first_run=now is what the author must have had in his table)
 *   owner-release  the release does not ask who runs the job: a node that overran the timeout ends
 *                  its successor's run and lets a third one in
 *   exclusive      by the above, and because all times are the nodes' own clocks
 * The article calls one column last_run here and last_run_started there; it is the latter.
 *
 * Source: article of 2012 on scheduled jobs in a cluster.
 */
#include "strategy.h"

static const char *const first_run_choices[] = {"null", "now", NULL};

const struct lb_strategy lb_strategy_lease_update = {
    .name = "lease-update",
    .summary = "conditional UPDATE of a job_status row, with the nodes' clocks and a timeout",
    .origin = "\"job_status\" article on scheduled jobs in a cluster, 2012",
    .changed = lb_no_changes,
    .shape = LB_LOCK,
    .is_lease = true,
    .claims = LB_G_BIT(LB_G_EXCLUSIVE) | LB_G_BIT(LB_G_OWNER_RELEASE) | LB_G_BIT(LB_G_PROGRESS) |
              LB_G_BIT(LB_G_RECOVERY),
    .breaks =
        (const struct lb_break[]){
            {.guarantee = LB_G_PROGRESS,
             .why = "next_run starts as NULL, and NULL <= now is not true: never granted"},
            {.guarantee = LB_G_OWNER_RELEASE,
             .options = "first_run=now",
             .scenario = "overrun",
             .why = "the release does not ask whose run it ends"},
            {.guarantee = LB_G_EXCLUSIVE,
             .options = "first_run=now",
             .scenario = "overrun",
             .why = "an overrun node's release ends its successor's run and lets a third in"},
            {0},
        },
    .twin = "lease-update-safe",
    .options =
        (const struct lb_option[]){
            {.name = "first_run",
             .default_value = "null",
             .choices = first_run_choices,
             .help = "next_run of a new job: null as published, or now"},
            {0},
        },
    .flow = &lb_ordinary_flow,
};
