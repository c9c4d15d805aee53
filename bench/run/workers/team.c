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

void lb_team_conn_options(const struct lb_team *team, struct lb_conn_options *ret_options)
{
    *ret_options = (struct lb_conn_options){
        .isolation = team->scenario->isolation,
        .lock_timeout_ms = (uint32_t)(team->scenario->lock_timeout_ns / 1000000)};
    if (ret_options->isolation == LB_ISO_DEFAULT)
        ret_options->isolation = team->plan->strategy->isolation;
    if (ret_options->isolation == LB_ISO_DEFAULT && team->plan->program != NULL)
        ret_options->isolation = team->plan->program->isolation;
    ret_options->reads_replica = team->plan->program != NULL && team->plan->program->reads_replica;
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
