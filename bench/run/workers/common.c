/* What workers share: see common.h. */
#include "common.h"

void lb_common_init(struct lb_common *common, int64_t first_id, uint32_t id_step)
{
    *common =
        (struct lb_common){.phase = LB_PHASE_PREPARE, .next_id = first_id, .id_step = id_step};
}

bool lb_common_has_come(const struct lb_common *common, enum lb_phase phase)
{
    /* In one order with the counters of working consumers: see lb_worker_produce_loop. */
    return atomic_load(&common->phase) >= (int)phase;
}

void lb_common_raise(struct lb_common *common, enum lb_phase phase)
{
    int now = atomic_load(&common->phase);
    while (now < (int)phase && !atomic_compare_exchange_weak(&common->phase, &now, (int)phase))
        ;
    lb_common_wake(common);
}

void lb_common_count(struct lb_common *common, enum lb_milestone milestone)
{
    atomic_fetch_add(&common->n[milestone], 1);
    lb_common_wake(common);
}

uint32_t lb_common_counted(const struct lb_common *common, enum lb_milestone milestone)
{
    return atomic_load(&common->n[milestone]);
}

int64_t lb_common_new_id(struct lb_common *common)
{
    return atomic_fetch_add(&common->next_id, (int64_t)common->id_step);
}

void lb_common_skip_ids(struct lb_common *common, int64_t n)
{
    atomic_fetch_add(&common->next_id, n);
}

int64_t lb_common_next_id(const struct lb_common *common)
{
    return atomic_load(&common->next_id);
}

bool lb_common_wait(struct lb_common *common, uint32_t seen, uint64_t deadline_ns)
{
    return lb_event_wait(&common->change, seen, deadline_ns);
}

void lb_common_wake(struct lb_common *common)
{
    lb_event_signal(&common->change);
}
