/* Phases and waiting: see team.h. */
#include "team.h"

#include "carrier.h"

void lb_team_raise(struct lb_team *team, enum lb_phase phase)
{
    lb_common_raise(&team->common, phase);
    for (uint32_t i = 0; i < team->n_carriers; i++)
        lb_carrier_signal(team->carriers[i]);
    if (team->on_phase != NULL)
        team->on_phase(team->on_phase_arg);
}

void lb_team_conn_options(const struct lb_team *team, const struct lb_strategy_plan *plan,
                          struct lb_conn_options *ret_options)
{
    *ret_options = (struct lb_conn_options){
        .isolation = team->scenario->isolation,
        .lock_timeout_ms = (uint32_t)(team->scenario->lock_timeout_ns / 1000000)};
    if (ret_options->isolation == LB_ISO_DEFAULT)
        ret_options->isolation = plan->strategy->isolation;
    if (ret_options->isolation == LB_ISO_DEFAULT && plan->program != NULL)
        ret_options->isolation = plan->program->isolation;
    ret_options->reads_replica = plan->program != NULL && plan->program->reads_replica;
}

void lb_team_fail(struct lb_team *team, const struct lb_error *error)
{
    int none = 0;
    if (atomic_compare_exchange_strong(&team->error_state, &none, 1)) {
        team->error = *error;
        atomic_store(&team->error_state, 2);
    }
    lb_team_raise(team, LB_PHASE_ABORT);
}

const struct lb_error *lb_team_error(const struct lb_team *team)
{
    return atomic_load(&team->error_state) == 2 ? &team->error : NULL;
}

bool lb_team_wait(struct lb_team *team, uint64_t deadline_ns, enum lb_phase limit)
{
    /* Short waits are slept through: a phase wakes all waiters, and they would all wait for the
     * same word. Longer ones end at once when the phase changes. */
    enum { SHORT_NS = 20000000 };
    uint64_t now = lb_now_ns();
    if (lb_common_has_come(&team->common, limit))
        return false;
    if (now >= deadline_ns)
        return true;
    if (lb_carrier_is_here()) {
        do {
            lb_carrier_wait_signal(deadline_ns);
            if (lb_common_has_come(&team->common, limit))
                return false;
        } while (lb_now_ns() < deadline_ns);
        return true;
    }
    if (deadline_ns - now <= SHORT_NS) {
        lb_carrier_sleep(deadline_ns);
        return true;
    }
    for (;;) {
        uint32_t seen = lb_common_seen(&team->common);
        if (lb_common_has_come(&team->common, limit))
            return false;
        if (!lb_common_wait(&team->common, seen, deadline_ns))
            return true;
    }
}

void lb_team_note_due(struct lb_team *team, uint64_t ms)
{
    enum { CLOCKS_NS = 50000000 }; /* the database's clock need not run as ours */
    uint64_t due_ns = lb_now_ns() + ms * UINT64_C(1000000) + CLOCKS_NS;
    uint64_t before_ns = atomic_load(&team->retried_ns);
    while (before_ns < due_ns &&
           !atomic_compare_exchange_weak(&team->retried_ns, &before_ns, due_ns))
        ;
}

void lb_team_lost_items(struct lb_team *team)
{
    enum {
        LATE_MS = 1000, /* so long the server may go on with a statement that was sent */
        MOST_MS = 8000  /* longer times are not waited for: an unknown outcome excuses a loss */
    };
    const struct lb_strategy_plan *plan = team->plan;
    bool is_long = (plan->strategy->is_lease && plan->ttl_ms > MOST_MS) ||
                   (team->scenario->recover_ns > 0 && plan->limit_ms > MOST_MS);
    if ((plan->strategy->claims & LB_G_BIT(LB_G_RECOVERY)) == 0 || is_long)
        return;
    atomic_store(&team->item_death_ns, lb_now_ns() + LATE_MS * UINT64_C(1000000));
    if (plan->strategy->is_lease)
        lb_team_note_due(team, plan->ttl_ms + LATE_MS);
}
