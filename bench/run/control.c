/* The controlling thread and its session: see control.h. */
#include "control.h"

#include "carrier.h"

int lb_control_interrupted(const struct lb_active_run *run)
{
    return run->stop != NULL ? atomic_load(&run->stop->requested) : 0;
}

bool lb_control_has_connection(const struct lb_active_run *run)
{
    return run->control.conn != NULL && !lb_conn_head(run->control.conn)->lost;
}

/* Opens the control session again if it was lost while it had nothing to do; tries for
 * LB_CONTROL_PATIENCE_S at most. */
static int reconnect(struct lb_active_run *run, struct lb_error *err)
{
    struct lb_session *control = &run->control;
    const uint64_t give_up_ns = lb_now_ns() + LB_CONTROL_PATIENCE_S * UINT64_C(1000000000);
    struct lb_error ignored;
    if (lb_control_has_connection(run) &&
        control->db->run(control->conn, "SELECT 1", &ignored) == LB_OK)
        return 0;
    int rc;
    while ((rc = lb_session_reconnect(control, err)) != 0 && lb_now_ns() < give_up_ns &&
           !lb_control_interrupted(run))
        lb_carrier_sleep(lb_now_ns() + UINT64_C(200000000));
    return rc == 0 ? 0 : lb_fail_prefix(err, "the server went away");
}

int lb_control_reopen(struct lb_active_run *run, struct lb_error *err)
{
    if (run->has_control && lb_team_error(run->team) == NULL) {
        int rc_again = reconnect(run, err);
        if (rc_again != LB_E_ENV)
            return rc_again;
        /* The results so far, and their history, are still worth a report. */
        lb_team_fail(run->team, err);
        return 0;
    }
    if (!run->control_closed)
        return 0;
    run->control_closed = false;
    struct lb_conn_options options = {.role = "control"};
    int rc = lb_session_open(&run->control, run->request->target->db, run->space, &options, err);
    run->has_control = rc == 0;
    return rc;
}
