/* One rank's part of a run: see part.h. */
#include "part.h"

#include "clock.h"
#include "intervals.h"

void lb_part_take(struct lb_active_run *run, struct lb_part *ret_part)
{
    *ret_part = (struct lb_part){.n_granted = run->last_successes - run->first_successes,
                                 .n_successes = lb_run_successes(run),
                                 .n_restarts = atomic_load(&run->team->uptime.n)};
    for (uint32_t i = 0; i < run->n_started; i++) {
        ret_part->n_guarded += run->workers[i].n_guarded;
        ret_part->n_parted += run->workers[i].actor.runner.n_parted;
    }
    lb_live_result(run->live, lb_now_ns() - run->first_ns, &ret_part->live);
}

static bool has_items(struct lb_active_run *run)
{
    for (uint32_t i = 0; i < run->team->n_consumers; i++)
        if (atomic_load(&run->workers[i].seat_has_items))
            return true;
    return false;
}

bool lb_part_wave(struct lb_active_run *run, uint64_t *epoch)
{
    struct lb_team *team = run->team;
    bool is_idle = atomic_load(&team->n_adding) == 0 && !has_items(run);
    uint64_t before = atomic_fetch_add(&team->epoch, 1);
    bool is_unchanged = is_idle && before == *epoch;
    *epoch = before + 1;
    return is_unchanged;
}

bool lb_part_is_emptied(const struct lb_team *team)
{
    return atomic_load(&team->emptied) == atomic_load(&team->epoch) + 1;
}
