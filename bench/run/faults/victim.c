/* Whom a fault befalls: see victim.h. */
#include "victim.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

void lb_victim_signal(struct lb_worker *worker, int number)
{
    int program = atomic_load(&worker->actor.program);
    if (program > 0)
        kill(-program, number);
}

/* It believes nothing any more: its hold ends here, even if the database still has it. */
void lb_victim_mourn(struct lb_worker *worker, const struct lb_request *request,
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
}

_Noreturn void lb_victim_end(struct lb_worker *worker)
{
    atomic_fetch_add(&worker->team->n_faults_over, 1);
    atomic_store(&worker->dying, true);
    lb_common_wake(&worker->team->common);
    lb_victim_signal(worker, SIGKILL);
    kill(getpid(), SIGKILL);
    abort(); /* not reached */
}

_Noreturn void lb_victim_die(struct lb_worker *worker, const struct lb_request *request,
                             const struct lb_item *items, uint32_t n)
{
    lb_victim_mourn(worker, request, items, n);
    lb_victim_end(worker);
}

bool lb_fault_suits_databases(const struct lb_db *db)
{
    return db != NULL;
}
