/* The fault pause: the holder stands still, and wakes up as a zombie: see zombie.h. */
#include "run_state.h"
#include "victim.h"
#include "zombie.h"

#include <signal.h>

static int64_t thing_of(const struct lb_request *request, const struct lb_item *items, uint32_t n)
{
    return request != NULL ? (int64_t)request->resource : n > 0 ? items[0].id : 0;
}

/* A host does not go to sleep. */
static bool is_host(struct lb_worker *worker, const struct lb_request *request,
                    const struct lb_item *items, uint32_t n)
{
    return lb_zombie_awaits(worker, thing_of(request, items, n));
}

static void stand_still(struct lb_worker *worker, const struct lb_request *request,
                        const struct lb_item *items, uint32_t n)
{
    struct lb_team *team = worker->team;
    uint64_t length_ns = team->scenario->fault_length_ns;
    int64_t thing = thing_of(request, items, n);
    if (request == NULL)
        lb_zombie_sleep(worker, thing);
    lb_victim_signal(worker, SIGSTOP);
    if (team->scenario->processes > 0) {
        atomic_store(&worker->resume_ns, lb_now_ns() + length_ns);
        lb_common_wake(&team->common);
        raise(SIGSTOP);
    } else {
        atomic_store(&worker->is_still, true);
        lb_team_wait(team, lb_now_ns() + length_ns, LB_PHASE_ABORT);
        atomic_store(&worker->is_still, false);
    }
    lb_victim_signal(worker, SIGCONT);
    lb_zombie_wait(worker, thing);
}

/* Somebody has to take over from those who sleep: half of the workers stay awake. */
static bool too_many_sleep(const struct lb_active_run *run)
{
    uint64_t half = run->share.n_consumers > 1 ? run->share.n_consumers / 2 : 1;
    uint64_t n_over = atomic_load(&run->team->n_faults_over) + run->elsewhere.n_faults_over;
    return run->n_orders - n_over >= half;
}

const struct lb_fault_kind lb_fault_pause = {
    .inject = stand_still,
    .postpones = is_host,
    .is_enough = too_many_sleep,
    .lock_keys = "fault-interval=450ms fault-length=400ms guard=yes",
    /* Nobody frees what a live consumer has: that would be the operator's mistake. */
    .queue_keys = "fault-interval=700ms fault-length=900ms recover=0 hold=15ms"};
