/* The fault snapshot: another session keeps an old snapshot, so dead rows cannot be removed. */
#include "beside.h"
#include "victim.h"

static int take(const struct lb_db *db, struct lb_conn *conn, struct lb_error *err)
{
    return db->take_snapshot(conn, err);
}

static int inject_outside(struct lb_active_run *run, struct lb_session *session, struct lb_log *log,
                          struct lb_error *err)
{
    static const struct lb_beside beside = {.take = take};
    return lb_beside_run(run, session, log, &beside, err);
}

const struct lb_fault_kind lb_fault_snapshot = {
    .suits = lb_fault_suits_databases,
    .inject_outside = inject_outside,
    .isolation = LB_ISO_REPEATABLE_READ,
    .lock_keys = "fault-interval=200ms fault-length=500ms",
    .queue_keys = "fault-interval=200ms fault-length=500ms hold=5ms"};
