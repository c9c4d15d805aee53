/* The fault slow: for an interval, every statement of the victim is delayed. */
#include "victim.h"

static void inject(struct lb_worker *worker, const struct lb_request *request,
                   const struct lb_item *items, uint32_t n)
{
    const struct lb_scenario *scenario = worker->team->scenario;
    (void)request;
    (void)items;
    (void)n;
    atomic_store(&worker->actor.slow_ns, scenario->fault_length_ns);
    atomic_store(&worker->actor.slow_until_ns, lb_now_ns() + scenario->fault_interval_ns);
    worker->slow_until_ns = lb_now_ns() + scenario->fault_interval_ns;
}

static int before(struct lb_worker *worker, struct lb_error *err)
{
    (void)err;
    if (lb_now_ns() < worker->slow_until_ns)
        lb_team_wait(worker->team, lb_now_ns() + worker->team->scenario->fault_length_ns,
                     LB_PHASE_ABORT);
    return 0;
}

const struct lb_fault_kind lb_fault_slow = {.suits = lb_fault_suits_databases,
                                            .inject = inject,
                                            .before = before,
                                            .lock_keys = "fault-interval=200ms fault-length=30ms",
                                            .queue_keys =
                                                "fault-interval=200ms fault-length=30ms hold=5ms"};
