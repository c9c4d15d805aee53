/* A transaction beside the workers', held open for a time. Private to bench/run. */
#ifndef LB_BESIDE_H
#define LB_BESIDE_H

#include "run_state.h"

struct lb_beside {
    int (*take)(const struct lb_db *db, struct lb_conn *conn, struct lb_error *err);
    /* Called before it releases its lock. Optional. */
    void (*leaves)(struct lb_active_run *run, struct lb_session *session);
};
/* As the member inject_outside of struct lb_fault_kind. */
int lb_beside_run(struct lb_active_run *run, struct lb_session *session, struct lb_log *log,
                  const struct lb_beside *beside, struct lb_error *err);

/* Does a worker's statement wait for a lock right now? Asked over session. No: also not known. */
bool lb_beside_is_blocked(struct lb_session *session, struct lb_worker *worker);

#endif
