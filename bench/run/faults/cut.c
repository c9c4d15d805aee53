/* The fault cut: the connection is cut after the statement that ends the hold was sent. */
#include "victim.h"

/* Its gate does so with its next statement: in turns before that goes out, and behind it. */
static void cut_program(struct lb_worker *worker)
{
    struct lb_actor *actor = &worker->actor;
    atomic_fetch_add(&actor->n_cuts, 1);
    atomic_store(&actor->cut, worker->n_cuts++ % 2 == 0 ? LB_CUT_BEFORE : LB_CUT_AFTER);
}

static void inject(struct lb_worker *worker, const struct lb_request *request,
                   const struct lb_item *items, uint32_t n)
{
    (void)request;
    (void)items;
    (void)n;
    if (worker->team->plan->strategy->guest != NULL)
        cut_program(worker);
    else if (worker->has_session && worker->session.conn != NULL)
        worker->team->db->cut(worker->session.conn);
}

static bool suits(const struct lb_db *db)
{
    return db != NULL && db->cut != NULL;
}

const struct lb_fault_kind lb_fault_cut = {.suits = suits,
                                           .inject = inject,
                                           .lock_keys = "fault-interval=200ms",
                                           .queue_keys = "fault-interval=200ms hold=5ms"};
