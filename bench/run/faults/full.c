/* The fault full: the disk is full for a time, and the database cannot grow. */
#include "fault_kind.h"
#include "run_state.h"

/* Each worker tells its own connection: see before(). */
static int fill(struct lb_active_run *run, struct lb_session *session, struct lb_log *log,
                struct lb_error *err)
{
    (void)session;
    (void)err;
    struct lb_team *team = run->team;
    lb_note_append(log, run->share.first_log + 1, LB_OP_FAULT, LB_FAULT_FULL, UINT32_MAX, 0);
    atomic_fetch_add(&team->n_faults, 1);
    atomic_store(&team->disk_full, true);
    lb_team_wait(team, lb_now_ns() + run->request->scenario->fault_length_ns, LB_PHASE_DRAIN);
    atomic_store(&team->disk_full, false);
    atomic_fetch_add(&team->n_faults_over, 1);
    lb_note_append(log, run->share.first_log + 1, LB_OP_FAULT, LB_FAULT_FULL, UINT32_MAX, 1);
    return 0;
}

static int before(struct lb_worker *worker, struct lb_error *err)
{
    bool full = atomic_load(&worker->team->disk_full);
    if (full == worker->is_full)
        return 0;
    /* A statement refused by contention is tried again with the next one. */
    int answer = worker->team->db->fill(worker->session.conn, full, err);
    if (answer < 0)
        return answer;
    worker->is_full = answer == LB_OK ? full : worker->is_full;
    return 0;
}

static bool suits(const struct lb_db *db)
{
    return db != NULL && db->fill != NULL;
}

const struct lb_fault_kind lb_fault_full = {.suits = suits,
                                            .before = before,
                                            .inject_outside = fill,
                                            .has_no_session = true,
                                            .lock_keys = "fault-interval=200ms fault-length=200ms",
                                            .queue_keys =
                                                "fault-interval=200ms fault-length=200ms hold=5ms"};
