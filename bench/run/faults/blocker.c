/* The fault blocker: another session locks the strategy's rows, without changing them. */
#include "beside.h"
#include "fault_kind.h"

static int take(const struct lb_db *db, struct lb_conn *conn, struct lb_error *err)
{
    return db->lock_rows(conn, 0, err);
}

/* Notes the workers with a waiting statement, before the block is released. */
static void note_waiters(struct lb_active_run *run, struct lb_session *session)
{
    const struct lb_db *db = run->team->db;
    if (!run->counts_waits || db->is_blocked == NULL || run->request->scenario->processes > 0 ||
        run->request->scenario->pool > 0)
        return;
    for (uint32_t i = 0; i < run->n_started; i++) {
        struct lb_worker *worker = &run->workers[i];
        struct lb_error ignored;
        int64_t id = 0;
        pthread_mutex_lock(&worker->session_lock);
        if (worker->has_session && worker->session.conn != NULL)
            id = db->session_id(worker->session.conn);
        pthread_mutex_unlock(&worker->session_lock);
        uint64_t asked_ns = lb_now_ns();
        if (id != 0 && db->is_blocked(session->conn, id, &ignored) == 1)
            atomic_store(&worker->waited_ns, asked_ns);
    }
}

static int inject_outside(struct lb_active_run *run, struct lb_session *session, struct lb_log *log,
                          struct lb_error *err)
{
    static const struct lb_beside beside = {.take = take, .leaves = note_waiters};
    return lb_beside_run(run, session, log, &beside, err);
}

static bool suits(const struct lb_db *db)
{
    return db != NULL && db->lock_rows != NULL;
}

const struct lb_fault_kind lb_fault_blocker = {
    .suits = suits,
    .inject_outside = inject_outside,
    .isolation = LB_ISO_DEFAULT,
    .lock_keys = {"fault", "blocker", "fault-interval", "200ms", "fault-length", "350ms"},
    .queue_keys = {"fault", "blocker", "fault-interval", "200ms", "fault-length", "300ms", "hold",
                   "5ms"}};
