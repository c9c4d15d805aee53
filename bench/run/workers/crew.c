/* Phases and waiting: see crew.h. */
#include "crew.h"

#include "carrier.h"

void lb_crew_raise(struct lb_crew *crew, enum lb_phase phase)
{
    int now = atomic_load(&crew->phase);
    while (now < (int)phase && !atomic_compare_exchange_weak(&crew->phase, &now, (int)phase))
        ;
    lb_event_signal(&crew->change);
    for (uint32_t i = 0; i < crew->n_carriers; i++)
        lb_carrier_signal(crew->carriers[i]);
    if (crew->on_phase != NULL)
        crew->on_phase(crew->on_phase_arg);
}

void lb_crew_conn_options(const struct lb_crew *crew, struct lb_conn_options *ret_options)
{
    *ret_options = (struct lb_conn_options){
        .isolation = crew->scenario->isolation,
        .lock_timeout_ms = (uint32_t)(crew->scenario->lock_timeout_ns / 1000000)};
    if (ret_options->isolation == LB_ISO_DEFAULT)
        ret_options->isolation = crew->plan->strategy->isolation;
    if (ret_options->isolation == LB_ISO_DEFAULT && crew->plan->program != NULL)
        ret_options->isolation = crew->plan->program->isolation;
    ret_options->reads_replica = crew->plan->program != NULL && crew->plan->program->reads_replica;
}

void lb_crew_fail(struct lb_crew *crew, const struct lb_error *error)
{
    int none = 0;
    if (atomic_compare_exchange_strong(&crew->error_state, &none, 1)) {
        crew->error = *error;
        atomic_store(&crew->error_state, 2);
    }
    lb_crew_raise(crew, LB_PHASE_ABORT);
}

const struct lb_error *lb_crew_error(const struct lb_crew *crew)
{
    return atomic_load(&crew->error_state) == 2 ? &crew->error : NULL;
}

int64_t lb_crew_new_id(struct lb_crew *crew)
{
    return atomic_fetch_add(&crew->next_id, (int64_t)crew->id_step);
}

/* Acquire: whom a phase lets go sees what was written before it was raised. */
static bool has_come(const struct lb_crew *crew, enum lb_phase phase)
{
    return atomic_load_explicit(&crew->phase, memory_order_acquire) >= (int)phase;
}

bool lb_crew_wait(struct lb_crew *crew, uint64_t deadline_ns, enum lb_phase limit)
{
    /* Short waits are slept through: a phase wakes all waiters, and they would all wait for the
     * same word. Longer ones end at once when the phase changes. */
    enum { SHORT_NS = 20000000 };
    uint64_t now = lb_now_ns();
    if (has_come(crew, limit))
        return false;
    if (now >= deadline_ns)
        return true;
    if (lb_carrier_is_here()) {
        do {
            lb_carrier_wait_signal(deadline_ns);
            if (has_come(crew, limit))
                return false;
        } while (lb_now_ns() < deadline_ns);
        return true;
    }
    if (deadline_ns - now <= SHORT_NS) {
        lb_carrier_sleep(deadline_ns);
        return true;
    }
    for (;;) {
        uint32_t seen = lb_event_seen(&crew->change);
        if (has_come(crew, limit))
            return false;
        if (!lb_event_wait(&crew->change, seen, deadline_ns))
            return true;
    }
}
