/* Additions of a report to its plans: the limit of throughput, from the costs of the runs on the
 * server and this machine; and the best of several plans. */
#ifndef LB_PLAN_LIMITS_H
#define LB_PLAN_LIMITS_H

#include "report.h"

enum { LB_PLAN_LIMITS = 8, LB_PLAN_CHOICES = 16 };

struct lb_plan_limit {
    const char *cause; /* "hold", "key", "locks", "log", "disk", "processor", "tries", "client" */
    double share;      /* the used share: of the workers' time, of a ceiling, of cores */
    char text[300];
};
/* The limits at the number of workers of the plan's answers, or at the largest measured number: the
 * largest share first. Returns how many. */
size_t lb_plan_limits(const struct lb_report *report, const struct lb_plan *plan,
                      struct lb_plan_limit *ret);

/* Which strategy to take up to which demand: none that broke a promise. Returns how many rows; none
 * for a single plan. */
size_t lb_plan_choices(const struct lb_report *report, struct lb_plan_choice *ret);

/* The report's cell and the number of its run that a plan's run is; false: not there. */
bool lb_plan_find_run(const struct lb_report *report, const struct lb_outcome *run,
                      size_t *ret_cell, size_t *ret_run);

#endif
