/* How long a run within a budget is: of a lock in a closed loop, less than its scenario says. */
#ifndef LB_LENGTH_H
#define LB_LENGTH_H

#include "report.h"

/* What the next run of the cell, its n_runs + 1st, is run under: ret is the cell's scenario, or one
 * with a shorter measured part. */
void lb_length_choose(const struct lb_report *report, const struct lb_cell *cell, size_t n_runs,
                      struct lb_scenario *ret);

#endif
