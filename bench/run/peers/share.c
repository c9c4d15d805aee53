/* Divides the work: see share.h. Each number is divided evenly; the first ranks get the remainder.
 */
#include "share.h"

static uint64_t share_of(uint64_t all, uint32_t rank, uint32_t n_ranks)
{
    return all / n_ranks + (rank < all % n_ranks);
}

static uint64_t producers_of(const struct lb_scenario *scenario)
{
    return scenario->shape == LB_QUEUE ? scenario->producers : 0;
}

uint32_t lb_share_ranks(const struct lb_scenario *all, uint32_t n_ranks)
{
    const uint64_t counted[] = {all->workers, all->pool, all->threads, all->processes};
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
        if (counted[i] > 0 && counted[i] < n_ranks)
            n_ranks = (uint32_t)counted[i];
    return n_ranks;
}

void lb_share_scenario(const struct lb_scenario *all, uint32_t rank, uint32_t n_ranks,
                       struct lb_scenario *ret_own)
{
    uint64_t n = all->workers + producers_of(all), own;
    *ret_own = *all;
    ret_own->workers = share_of(all->workers, rank, n_ranks);
    if (all->shape == LB_QUEUE)
        ret_own->producers = share_of(all->producers, rank, n_ranks);
    own = ret_own->workers + producers_of(ret_own);
    /* One for each worker stays one for each worker. */
    ret_own->threads = all->threads >= n ? own : share_of(all->threads, rank, n_ranks);
    ret_own->processes = all->processes >= n ? own : share_of(all->processes, rank, n_ranks);
    if (all->threads == 0)
        ret_own->threads = 0;
    ret_own->pool = share_of(all->pool, rank, n_ranks);
}

/* Any rank may be drawn for each of the deaths. */
static uint32_t slots_of(const struct lb_scenario *all, uint32_t rank, uint32_t n_ranks)
{
    return (uint32_t)(share_of(all->workers, rank, n_ranks) +
                      share_of(producers_of(all), rank, n_ranks) + lb_scenario_deaths(all));
}

void lb_share_make(const struct lb_scenario *all, bool beats, uint32_t rank, uint32_t n_ranks,
                   struct lb_share *ret)
{
    uint64_t producers = producers_of(all);
    /* Work arrives at producers, or else at the workers. */
    uint64_t takers = producers > 0 ? producers : all->workers;
    *ret = (struct lb_share){.rank = rank,
                             .n_ranks = n_ranks,
                             .n_workers = (uint32_t)(all->workers + producers),
                             .n_consumers = (uint32_t)all->workers,
                             .n_sessions = all->pool > 0 ? all->pool : all->workers + producers,
                             .has_producers = producers > 0};
    uint32_t n_slots = 0, n_extra = 0;
    for (uint32_t r = 0; r < n_ranks; r++) {
        uint32_t slots = slots_of(all, r, n_ranks);
        if (r == rank) {
            ret->first_worker = n_slots;
            ret->first_log = n_extra;
        }
        if (r < rank) {
            ret->first_seat +=
                (uint32_t)(share_of(all->workers, r, n_ranks) + share_of(producers, r, n_ranks));
            ret->arrivals.first += (uint32_t)share_of(takers, r, n_ranks);
        }
        n_slots += slots;
        n_extra += LB_EXTRA_LOGS + (beats ? 1 + slots : 0);
    }
    ret->first_log += n_slots;
    ret->n_logs = n_slots + n_extra;
    ret->arrivals.n = (uint32_t)share_of(takers, rank, n_ranks);
    ret->arrivals.of = n_ranks > 1 ? (uint32_t)takers : 0;
}
