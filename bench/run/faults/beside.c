/* A transaction beside the workers': see beside.h. */
#include "beside.h"

int lb_beside_run(struct lb_active_run *run, struct lb_session *session, struct lb_log *log,
                  const struct lb_beside *beside, struct lb_error *err)
{
    struct lb_team *team = run->team;
    const struct lb_scenario *scenario = run->request->scenario;
    struct lb_error ignored;
    int answer = lb_session_begin(session, LB_BEGIN_DEFERRED, err);
    lb_note_append(log, run->share.first_log + 1, LB_OP_FAULT, scenario->fault, UINT32_MAX, 0);
    if (answer == LB_OK)
        answer = beside->take(team->db, session->conn, err);
    if (answer < 0)
        return answer;
    atomic_fetch_add(&team->n_faults, 1);
    lb_team_wait(team, lb_now_ns() + scenario->fault_length_ns, LB_PHASE_DRAIN);
    if (beside->leaves != NULL)
        beside->leaves(run, session);
    lb_session_rollback(session, &ignored);
    atomic_fetch_add(&team->n_faults_over, 1);
    lb_note_append(log, run->share.first_log + 1, LB_OP_FAULT, scenario->fault, UINT32_MAX, 1);
    return 0;
}

bool lb_beside_is_blocked(struct lb_session *session, struct lb_worker *worker)
{
    struct lb_error ignored;
    int64_t id = 0;
    pthread_mutex_lock(&worker->session_lock);
    if (worker->has_session && worker->session.conn != NULL)
        id = session->db->session_id(worker->session.conn);
    pthread_mutex_unlock(&worker->session_lock);
    return id != 0 && session->db->is_blocked(session->conn, id, &ignored) == 1;
}
