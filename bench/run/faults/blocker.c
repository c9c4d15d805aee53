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
        uint64_t asked_ns = lb_now_ns();
        if (lb_beside_is_blocked(session, &run->workers[i]))
            atomic_store(&run->workers[i].waited_ns, asked_ns);
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
    .lock_keys = "fault-interval=200ms fault-length=350ms",
    .queue_keys = "fault-interval=200ms fault-length=300ms hold=5ms"};
