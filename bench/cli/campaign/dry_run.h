/* --dry-run: the planned runs, and their duration. */
#ifndef LB_DRY_RUN_H
#define LB_DRY_RUN_H

#include "report.h"

/* How long the report's runs take at least: the measured parts and the warm-ups. Runs that end by
 * themselves, such as a backlog, are not counted. */
uint64_t lb_dry_run_ns(const struct lb_report *report);
/* Is there anything that ends by itself? */
bool lb_dry_run_is_open(const struct lb_report *report);

/* On stderr, before a plan starts: how long that takes. The number of trials for an SLO is unknown.
 * most_ns: the total time for repeating runs that differ; 0: none. */
void lb_dry_run_tell_plan(const struct lb_report *report, size_t n_plans, size_t n_levels,
                          bool has_slo, uint64_t most_ns);

/* The cells as a table, then the sum. budget_ns: the time for rounds; 0: each cell is run n_repeat
 * times. grows: more runs may follow from the results. */
void lb_dry_run_print(const struct lb_report *report, uint64_t budget_ns, bool grows, FILE *out);
/* The same as one JSON document; is_line: on one line. No password is in it: targets are labels. */
int lb_dry_run_json(const struct lb_report *report, uint64_t budget_ns, bool grows, bool is_line,
                    FILE *out, struct lb_error *err);

#endif
