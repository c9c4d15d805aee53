/* Where a zombie wakes up: inside of its successor's hold.
 *
 * A holder that slept past its lease does harm only while another worker holds the lock or item
 * that it still believes to hold. How long that takes depends on the strategy and the machine, so
 * it is not left to the length of the pause: the zombie, its pause over, waits until it is called,
 * and each holder, at the end of its hold and before it gives back, calls those that wait for the
 * same lock or item, and stays until they have done what they do: written, and released. So each
 * pause falls into a hold.
 *
 * A lock has many successors. An item has one, which may come before the pause is over: it waits
 * for sleepers too.
 *
 * If no worker can take over the sleeper's hold (its session, its transaction), none calls, and the
 * zombie does not wait. Nor when all others wait as well, or the run stops.
 */
#include "zombie.h"

enum { AWAKE, ASLEEP, WAITS, CALLED }; /* called: or tired of waiting, and at it */
/* How long a zombie waits to be called, and a host for its guest: some pauses. In a run that ends
 * with its faults each fault must show its effect, and time does not matter: there a thread may be
 * kept from running for longer. */
enum { PATIENCE = 10 };
#define LONG_PATIENCE_NS UINT64_C(60000000000)

/* Also of those that took others' places. */
static uint32_t n_lives(const struct lb_team *team)
{
    return team->n_workers + atomic_load(&team->n_successors);
}

/* Zombies and hosts look at each other's words, every millisecond: workers may be in processes of
 * their own, or share a thread. false: the phase has come. */
static bool nap(struct lb_team *team, enum lb_phase limit)
{
    return lb_team_wait(team, lb_now_ns() + 1000000, limit);
}

static uint64_t patience_ns(const struct lb_scenario *scenario)
{
    uint64_t ns = scenario->fault == LB_FAULT_TERM ? scenario->grace_ns
                                                   : PATIENCE * scenario->fault_length_ns;
    return scenario->duration_ns == 0 && ns < LONG_PATIENCE_NS ? LONG_PATIENCE_NS : ns;
}

/* True if another worker is left that could call. */
static bool others_work(struct lb_worker *worker)
{
    struct lb_worker *workers = lb_worker_first(worker);
    for (uint32_t i = 0; i < n_lives(worker->team); i++)
        if (&workers[i] != worker && workers[i].role != LB_ROLE_PRODUCER &&
            !atomic_load(&workers[i].ended) && atomic_load(&workers[i].zombie) != WAITS)
            return true;
    return false;
}

static bool is_taken_over(const struct lb_team *team)
{
    return team->plan->strategy->is_lease || team->scenario->recover_ns > 0 ||
           team->scenario->fault == LB_FAULT_TERM; /* it was given back */
}

bool lb_zombie_awaits(struct lb_worker *worker, int64_t thing)
{
    struct lb_worker *workers = lb_worker_first(worker);
    for (uint32_t i = 0; i < n_lives(worker->team); i++)
        if (&workers[i] != worker && atomic_load(&workers[i].zombie) != AWAKE &&
            atomic_load(&workers[i].slept_on) == thing)
            return true;
    return false;
}

void lb_zombie_sleep(struct lb_worker *worker, int64_t item)
{
    atomic_store(&worker->slept_on, item); /* before the state that speaks of it */
    if (is_taken_over(worker->team))
        atomic_store(&worker->zombie, ASLEEP);
}

bool lb_zombie_wait(struct lb_worker *worker, int64_t thing)
{
    struct lb_team *team = worker->team;
    if (!is_taken_over(team))
        return false;
    uint64_t give_up_ns = lb_now_ns() + patience_ns(team->scenario);
    atomic_store(&worker->slept_on, thing); /* before the state that speaks of it */
    atomic_store(&worker->zombie, WAITS);
    while (atomic_load(&worker->zombie) != CALLED && others_work(worker) &&
           lb_now_ns() < give_up_ns && nap(team, LB_PHASE_STOP))
        ;
    return atomic_exchange(&worker->zombie, CALLED) == CALLED;
}

void lb_zombie_gone(struct lb_worker *worker)
{
    if (atomic_load_explicit(&worker->zombie, memory_order_relaxed) == AWAKE) /* its own word */
        return;
    atomic_store(&worker->zombie, AWAKE);
}

/* Calls who waits; counts those who are not gone yet. */
static uint32_t call(struct lb_worker *worker, int64_t thing)
{
    struct lb_worker *workers = lb_worker_first(worker);
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_lives(worker->team); i++) {
        struct lb_worker *other = &workers[i];
        int state;
        if (other == worker || atomic_load(&other->zombie) == AWAKE ||
            atomic_load(&other->slept_on) != thing)
            continue;
        state = WAITS;
        atomic_compare_exchange_strong(&other->zombie, &state, CALLED);
        n++;
    }
    return n;
}

void lb_zombie_call(struct lb_worker *worker, int64_t thing)
{
    struct lb_team *team = worker->team;
    /* Called itself, it is the guest. */
    if ((team->scenario->fault != LB_FAULT_PAUSE && team->scenario->fault != LB_FAULT_TERM) ||
        atomic_load(&worker->zombie) != AWAKE)
        return;
    uint64_t give_up_ns = lb_now_ns() + patience_ns(team->scenario);
    while (call(worker, thing) > 0 && lb_now_ns() < give_up_ns && nap(team, LB_PHASE_ABORT))
        ;
}
