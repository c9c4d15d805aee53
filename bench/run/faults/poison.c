/* The fault poison: whoever claims certain items dies, each time; or fails with them; or works on
 * them for longer than a lease. They are among the first that are put, and as many as fault-count
 * says. When the queue is drained they are items like others.
 */
#include "run_state.h"
#include "victim.h"

enum { EVERY = 8, FIRST = 5, DEFAULT_COUNT = 3 };

enum effect { KILLS, FAILS, OUTLASTS, EFFECTS };

static bool can_fail(const struct lb_strategy_plan *plan)
{
    return lb_strategy_has(plan, LB_S_ERROR) || lb_strategy_has(plan, LB_S_RETRY) ||
           lb_strategy_has(plan, LB_S_FREE);
}

/* Does an item come back that its worker does not end? A program may do that by means of its own.
 */
static bool comes_back(const struct lb_team *team)
{
    const struct lb_strategy_plan *plan = team->plan;
    return plan->strategy->guest != NULL || plan->strategy->is_lease ||
           lb_strategy_holds_in_tx(plan) ||
           (plan->program != NULL && plan->program->sections[LB_S_CLAIM].keeps_session) ||
           (team->scenario->recover_ns > 0 && lb_strategy_has(plan, LB_S_RECOVER));
}

static enum effect effect_of(const struct lb_team *team, uint64_t place)
{
    if (!comes_back(team) && can_fail(team->plan))
        return FAILS;
    enum effect effect = (enum effect)(place % EFFECTS);
    return effect == FAILS && !can_fail(team->plan) ? KILLS : effect;
}

static bool is_poison(const struct lb_team *team, int64_t id, uint64_t *ret_place)
{
    const struct lb_scenario *scenario = team->scenario;
    uint64_t most = scenario->workers > 1 ? scenario->workers - 1 : 1;
    uint64_t n = scenario->fault_count > 0        ? scenario->fault_count
                 : most < (uint64_t)DEFAULT_COUNT ? most
                                                  : DEFAULT_COUNT;
    *ret_place = (uint64_t)id / EVERY;
    return id > 0 && id % EVERY == FIRST && *ret_place < n;
}

/* Of a claim that is ended as a whole, any item; else only the present one. NULL: none is. */
static const struct lb_item *find_poison(const struct lb_worker *worker,
                                         const struct lb_item *items, uint32_t n,
                                         uint64_t *ret_place)
{
    const uint32_t n_seen = lb_ends_together(worker->actor.plan) ? n : n > 0;
    for (uint32_t i = 0; i < n_seen; i++)
        if (is_poison(worker->team, items[i].id, ret_place))
            return &items[i];
    return NULL;
}

static bool is_harmless(struct lb_worker *worker, const struct lb_request *request,
                        const struct lb_item *items, uint32_t n)
{
    uint64_t place;
    (void)request;
    if (lb_team_phase(worker->team) >= LB_PHASE_DRAIN ||
        find_poison(worker, items, n, &place) == NULL)
        return true;
    /* Each death needs a new worker, and the team has room for LB_POISON_DEATHS of these. */
    return effect_of(worker->team, place) == KILLS &&
           atomic_fetch_add(&worker->team->n_poisoned, 1) >= LB_POISON_DEATHS;
}

static void poison(struct lb_worker *worker, const struct lb_request *request,
                   const struct lb_item *items, uint32_t n)
{
    struct lb_team *team = worker->team;
    const struct lb_scenario *scenario = team->scenario;
    uint64_t place = 0;
    const struct lb_item *item = find_poison(worker, items, n, &place);
    if (item == NULL)
        return;
    switch (effect_of(team, place)) {
    case KILLS:
        lb_victim_die(worker, request, items, n);
    case FAILS:
        worker->poison = item->id;
        return;
    case OUTLASTS:
    case EFFECTS:
    default:
        lb_team_wait(team, lb_now_ns() + scenario->ttl_ns + scenario->fault_length_ns,
                     LB_PHASE_DRAIN);
    }
}

static int check(const struct lb_run_plan *plan, struct lb_error *err)
{
    return plan->scenario->shape == LB_QUEUE
               ? 0
               : lb_fail(err, LB_E_UNSUPPORTED,
                         "fault poison is of a queue's items: it has no meaning for a lock");
}

const struct lb_fault_kind lb_fault_poison = {
    .suits = lb_fault_suits_databases,
    .check = check,
    .inject = poison,
    .postpones = is_harmless,
    .is_standing = true,
    .queue_keys = "fault-count=3 fault-length=100ms ttl=150ms recover=50ms workers=4 duration=3s"};
