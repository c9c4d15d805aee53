/* The items that a queue has at the start. Private to bench/run. */
#ifndef LB_BACKLOG_H
#define LB_BACKLOG_H

#include "run_state.h"

/* backlog.c: the items at the start. free ends the sessions that lock rows or keep a snapshot; more
 * than once does no harm. */
int lb_backlog_check(const struct lb_scenario *scenario, const struct lb_db *db,
                     struct lb_error *err);
int lb_backlog_put(struct lb_active_run *run, struct lb_error *err);
void lb_backlog_free(struct lb_active_run *run);

#endif
