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
/* A transaction that stays open, on a session of its own: the server keeps the rows that are
 * removed after it began. Taking it twice, or dropping it without one, does nothing. LB_OK, an
 * answer of the server (run->snapshot.message), or an error. */
int lb_backlog_take_snapshot(struct lb_active_run *run, struct lb_error *err);
void lb_backlog_drop_snapshot(struct lb_active_run *run);

#endif
