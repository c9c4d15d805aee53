/* The fault disconnect: the server ends the holder's session; the holder lives on. */
#include "pool.h"
#include "victim.h"

/* Ends n sessions over another connection, beside `beside`, as an operator would. is_own: the
 * worker's hold may live in one of them. */
static void terminate(struct lb_worker *worker, struct lb_conn *beside, const int64_t *sessions,
                      uint32_t n, bool is_own)
{
    struct lb_team *team = worker->team;
    struct lb_error err = {0};
    struct lb_conn_options options = {.role = "operator", .beside = beside};
    struct lb_conn *operator_conn = NULL;
    int rc = team->db->open(team->space, &options, &operator_conn, &err);
    if (rc == 0) {
        if (is_own)
            lb_note_append(worker->op.log, worker->op.process, LB_OP_SESSION_END, 0, worker->number,
                           0);
        for (uint32_t i = 0; i < n && rc >= 0; i++)
            rc = team->db->terminate(operator_conn, sessions[i], &err);
        team->db->close(operator_conn);
    }
    if (rc < 0)
        lb_team_fail(team, &err);
}

/* Ends the sessions of the worker's program. */
static void disconnect_program(struct lb_worker *worker)
{
    struct lb_team *team = worker->team;
    struct lb_actor *actor = &worker->actor;
    struct lb_error err;
    if (actor->n_sessions == 0) {
        lb_fail(&err, LB_E_FILE,
                "fault disconnect: %s does not say which sessions are its own: "
                "\"session\" in its answer to open",
                team->plan->strategy->name);
        lb_team_fail(team, &err);
        return;
    }
    atomic_fetch_add(&actor->n_cuts, 1);
    terminate(worker, NULL, actor->sessions, actor->n_sessions, true);
}

static void disconnect(struct lb_worker *worker, struct lb_conn *conn, bool is_own)
{
    const int64_t id = worker->team->db->session_id(conn);
    terminate(worker, conn, &id, 1, is_own);
}

/* With a pool: ends the session of the hold, or a free one, which is noticed only when a worker
 * takes it. */
static void disconnect_pooled(struct lb_worker *worker)
{
    struct lb_team *team = worker->team;
    bool is_own = worker->pooled != NULL;
    struct lb_pooled *pooled =
        is_own ? worker->pooled : lb_pool_take(team->pool, team, LB_PHASE_STOP);
    if (pooled != NULL && pooled->session.conn != NULL)
        disconnect(worker, pooled->session.conn, is_own);
    if (pooled != NULL && !is_own)
        lb_pool_give(team->pool, pooled);
}

static void inject(struct lb_worker *worker, const struct lb_request *request,
                   const struct lb_item *items, uint32_t n)
{
    (void)request;
    (void)items;
    (void)n;
    if (worker->team->plan->strategy->guest != NULL)
        disconnect_program(worker);
    else if (worker->team->pool != NULL)
        disconnect_pooled(worker);
    else if (worker->has_session && worker->session.conn != NULL)
        disconnect(worker, worker->session.conn, true);
}

static bool suits(const struct lb_db *db)
{
    return db != NULL && db->terminate != NULL;
}

const struct lb_fault_kind lb_fault_disconnect = {.suits = suits,
                                                  .inject = inject,
                                                  .lock_keys = "fault-interval=200ms",
                                                  .queue_keys = "fault-interval=200ms hold=5ms"};
