/* The fault kill: the holder's process is gone, with its threads and their locks or items. */
#include "victim.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* A dead worker believes nothing: its hold ends here, even if the database still has it. */
static void die(struct lb_worker *worker, const struct lb_request *request,
                const struct lb_item *items, uint32_t n)
{
    struct lb_team *team = worker->team;
    if (request != NULL)
        lb_live_die(team->live, request->resource, request->shared, worker->number);
    for (uint32_t i = 0; i < n; i++)
        lb_live_item_back(team->live, items[i].id);
    if (n > 0)
        atomic_store(&team->item_death_ns, lb_now_ns());
    lb_note_append(worker->op.log, worker->op.process, LB_OP_DEATH, 0, worker->number, 0);
    lb_note_append(worker->op.log, worker->op.process, LB_OP_SESSION_END, 0, worker->number, 0);
    atomic_fetch_add(&team->n_faults_over, 1);
    atomic_store(&worker->dying, true);
    lb_common_wake(&team->common);
    lb_victim_signal(worker, SIGKILL);
    kill(getpid(), SIGKILL);
    abort(); /* not reached */
}

const struct lb_fault_kind lb_fault_kill = {
    .inject = die,
    .is_last = true,
    .lock_keys = {"fault", "kill", "fault-interval", "250ms", "fault-count", "20", "duration", "7s",
                  "stale", "300ms"},
    .queue_keys = {"fault", "kill", "fault-interval", "60ms", "fault-count", "20", "duration",
                   "3s"}};
