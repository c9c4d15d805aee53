/* A participant of a lock: think, ask until granted, hold, release. */
#include "guard.h"
#include "starved.h"
#include "worker.h"
#include "zipf.h"

static void choose(struct lb_worker *worker, struct lb_request *ret_request)
{
    const struct lb_scenario *scenario = worker->team->scenario;
    const struct lb_strategy_plan *plan = worker->team->plan;
    const double *choice = worker->team->choice;
    ret_request->resource =
        plan->n_resources < 2 ? 0
        : choice != NULL ? lb_zipf_rank(choice, plan->n_resources, lb_random_unit(&worker->random))
                         : (uint32_t)lb_random_below(&worker->random, plan->n_resources);
    if (scenario->writers > 0)
        ret_request->shared = worker->team->first_worker + worker->seat >= scenario->writers;
    else
        ret_request->shared =
            scenario->shared > 0 && lb_random_unit(&worker->random) < scenario->shared;
    ret_request->capacity = plan->capacity[ret_request->resource];
}

/* Is it time for a hold that overruns its lease? Evenly, not by chance: a short run has its share
 * as well. */
static bool is_overrun_due(struct lb_worker *worker)
{
    double share = worker->team->scenario->overrun;
    if (share <= 0 || (worker->overruns += share) < 1)
        return false;
    worker->overruns -= 1;
    return true;
}

/* Waits until the count is 0, for as long as a lease at most. */
static void await_none(struct lb_worker *worker, const _Atomic uint32_t *count)
{
    struct lb_team *team = worker->team;
    uint64_t give_up_ns = lb_now_ns() + team->scenario->ttl_ns;
    while (atomic_load(count) > 0 && lb_now_ns() < give_up_ns &&
           lb_worker_sleep(worker, lb_now_ns() + 1000000, LB_PHASE_STOP))
        ;
}

/* Stays past the end of the lease until a successor is inside, for two more leases at most. Then
 * comes the late release, with most of the successor's hold before it, and while no worker asks: a
 * worker that it lets in has certainly asked later. */
static void overrun(struct lb_worker *worker, const struct lb_request *request, uint64_t granted_ns)
{
    enum { LOOK_NS = 1000000 };
    struct lb_team *team = worker->team;
    uint64_t ttl_ns = team->scenario->ttl_ns, until_ns = granted_ns + 3 * ttl_ns;
    bool goes_on = lb_worker_sleep(worker, granted_ns + ttl_ns + ttl_ns / 20, LB_PHASE_ABORT);
    while (goes_on && lb_now_ns() < until_ns &&
           !lb_live_is_taken_over(team->live, request->resource, worker->number))
        goes_on = lb_worker_sleep(worker, lb_now_ns() + LOOK_NS, LB_PHASE_STOP);
    atomic_fetch_add(&team->n_late, 1);
    await_none(worker, &team->n_asking);
}

/* One attempt; in a scenario with overruns not while a late release is under way. Sequentially
 * consistent, as is overrun: of the one who asks and the one who lets go, one sees the other. */
static int ask(struct lb_worker *worker, const struct lb_request *request, struct lb_grant *grant)
{
    struct lb_team *team = worker->team;
    if (team->scenario->overrun <= 0)
        return lb_operate_acquire(&worker->op, request, grant, &worker->err);
    atomic_fetch_add(&team->n_asking, 1);
    if (atomic_load(&team->n_late) > 0) {
        atomic_fetch_sub(&team->n_asking, 1);
        await_none(worker, &team->n_late);
        worker->op.continued = false;
        atomic_fetch_add(&team->n_asking, 1);
    }
    int answer = lb_operate_acquire(&worker->op, request, grant, &worker->err);
    atomic_fetch_sub(&team->n_asking, 1);
    return answer;
}

/* An operator's job, which frees locks of dead and of slow workers: one of the workers runs it when
 * it is due, eight times in a lease. If it does not use the time it is not run beside live workers.
 * Returns false if the session was lost, or the run has failed. */
static bool recover(struct lb_worker *worker)
{
    enum { OFTEN = 8, LEAST_NS = 1000000 };
    struct lb_team *team = worker->team;
    if (!team->recovers || !lb_strategy_has(worker->actor.plan, LB_S_RECOVER))
        return true;
    uint64_t due_ns = atomic_load(&team->recover_due_ns), now_ns = lb_now_ns();
    uint64_t interval_ns = team->plan->ttl_ms * UINT64_C(1000000) / OFTEN;
    if (now_ns < due_ns ||
        !atomic_compare_exchange_strong(&team->recover_due_ns, &due_ns,
                                        now_ns + (interval_ns > LEAST_NS ? interval_ns : LEAST_NS)))
        return true;
    bool was_measured = worker->op.measured;
    worker->op.measured = worker->op.continued = false; /* it is no worker's release */
    int answer = lb_operate_class(&worker->op, LB_OP_RECOVER, &worker->err);
    worker->op.measured = was_measured;
    lb_worker_look(worker);
    if (answer != LB_OK && answer != LB_EMPTY)
        lb_worker_refused(worker, answer, 1, &worker->err);
    worker->op.continued = false;
    return answer >= 0 && answer != LB_LOST;
}

enum { MOST_CANCELS = 100 };

/* Asks until granted. Returns LB_OK, or LB_TIMEOUT when the worker gave up. */
static int wait_for_grant(struct lb_worker *worker, const struct lb_request *request,
                          struct lb_grant *grant)
{
    const struct lb_scenario *scenario = worker->team->scenario;
    struct lb_error *err = &worker->err;
    int answer;
    if (worker->team->enqueues) {
        unsigned n_refusals = 0;
        while ((answer = lb_operate_enqueue(&worker->op, request, grant, err)) != LB_OK)
            if (!lb_worker_refused(worker, answer, ++n_refusals, err))
                return LB_TIMEOUT;
        lb_operator_continue(&worker->op);
    }
    uint64_t deadline_ns = scenario->acquire_timeout_ns > 0
                               ? worker->op.end_ns + scenario->acquire_timeout_ns
                               : UINT64_MAX;
    unsigned n_refusals = 0;
    while ((answer = ask(worker, request, grant)) != LB_OK) {
        lb_worker_look(worker);
        bool go_on = lb_worker_refused(worker, answer, ++n_refusals, err);
        if (answer < 0 || answer == LB_LOST)
            return LB_TIMEOUT; /* the request is gone with the session */
        if (go_on && (scenario->tries == 0 || n_refusals < scenario->tries) &&
            lb_now_ns() < deadline_ns) {
            if (!recover(worker))
                return LB_TIMEOUT;
            continue;
        }
        lb_worker_gave_up(worker, scenario->tries > 0 && n_refusals >= scenario->tries);
        /* A place that stays in the line keeps back all behind it. */
        n_refusals = 0;
        while ((answer = lb_operate_cancel(&worker->op, request, grant, err)) != LB_OK &&
               answer != LB_REFUSED && n_refusals < MOST_CANCELS)
            if (!lb_worker_refused(worker, answer, ++n_refusals, err))
                break;
        return LB_TIMEOUT;
    }
    lb_worker_look(worker);
    return LB_OK;
}

/* The part of a hold that the live witnesses see. They must never see more than the history, which
 * begins a hold with the granting answer, the end of the last operation, and ends it at the request
 * of an operation that shows the holder that it is over, or that loses the connection: the worker
 * is not inside during the request. */
struct mark {
    uint64_t seen, since_ns;
};

static void enter(struct lb_worker *worker, const struct lb_request *request, struct mark *mark)
{
    mark->since_ns = worker->op.end_ns;
    mark->seen =
        lb_live_enter(worker->team->live, request->resource, request->shared, worker->number);
}

/* Returns when it had left: the clock is read after the marks are gone. */
static uint64_t leave(struct lb_worker *worker, const struct lb_request *request,
                      const struct mark *mark)
{
    struct lb_live *live = worker->team->live;
    lb_live_leave(live, request->resource, request->shared, worker->number, mark->seen);
    uint64_t now_ns = lb_now_ns();
    lb_live_held(live, request->resource, request->shared, now_ns - mark->since_ns);
    return now_ns;
}

/* Waits out the hold, and renews the lease if the scenario says so. false: a renewal showed that
 * the lease is lost, or the connection is gone; the worker has left the hold. */
static bool keep(struct lb_worker *worker, const struct lb_request *request, struct lb_grant *grant,
                 struct mark *mark, uint64_t until_ns)
{
    struct lb_team *team = worker->team;
    uint64_t renew_ns = team->scenario->renew_ns;
    uint64_t next_ns = lb_now_ns() + renew_ns;
    bool renews = renew_ns > 0 && lb_strategy_has(worker->actor.plan, LB_S_RENEW);
    while (renews && next_ns < until_ns && lb_worker_sleep(worker, next_ns, LB_PHASE_ABORT)) {
        leave(worker, request, mark);
        int answer = lb_operate_renew(&worker->op, request, grant, &worker->err);
        lb_worker_look(worker);
        if (answer == LB_REFUSED || answer == LB_LOST)
            return false;
        if (answer > LB_OK)
            lb_worker_note_refusal(worker, answer);
        enter(worker, request, mark);
        if (answer < 0)
            lb_team_fail(team, &worker->err);
        renews = answer == LB_OK;
        next_ns += renew_ns;
    }
    lb_worker_sleep(worker, until_ns, LB_PHASE_ABORT);
    return true;
}

/* The time inside: marks for the witnesses, the guarded row, the wait. Returns when the hold
 * ends, at the latest moment before the release. */
static uint64_t hold(struct lb_worker *worker, const struct lb_request *request,
                     struct lb_grant *grant)
{
    struct lb_team *team = worker->team;
    struct lb_error *err = &worker->err;
    uint64_t granted_ns = worker->op.end_ns;
    struct mark mark;
    enter(worker, request, &mark);
    bool guarded = worker->guard != NULL && !request->shared && request->capacity == 1;
    int answer = guarded ? lb_guard_read(worker, request->resource, grant, err) : LB_OK;
    bool overruns = is_overrun_due(worker), kept = true;
    uint64_t ttl_ns = team->scenario->ttl_ns;
    uint64_t hold_ns =
        overruns ? ttl_ns + ttl_ns / 2 : lb_service_draw(&team->service, &worker->random);
    if (lb_worker_has_faults(worker))
        team->events->holds(worker, request, NULL, 0);
    worker->is_late = overruns && team->scenario->renew_ns == 0;
    if (worker->is_late)
        overrun(worker, request, granted_ns);
    else if (hold_ns > 0)
        kept = keep(worker, request, grant, &mark, granted_ns + hold_ns);
    uint64_t left_ns = kept ? leave(worker, request, &mark) : 0;
    /* Nothing else to do: a reading of the clock is a sixth of what a control's cycle takes. */
    if (kept && !guarded && team->scenario->fault != LB_FAULT_PAUSE)
        return left_ns;
    if (kept && guarded && answer == LB_OK)
        answer = lb_guard_write(worker, request->resource, grant, err);
    if (answer < 0)
        lb_team_fail(team, err);
    team->events->leaves(worker, request->resource);
    /* A statement that failed inside the strategy's transaction has spoilt it. */
    if (answer > LB_OK && answer != LB_REFUSED && worker->session.in_tx)
        lb_session_rollback(&worker->session, err);
    return lb_now_ns();
}

/* Gives the lock back; asks again while contention refuses the statement itself. */
static bool release(struct lb_worker *worker, const struct lb_request *request,
                    struct lb_grant *grant)
{
    struct lb_error *err = &worker->err;
    unsigned n_refusals = 0;
    for (;;) {
        int answer = lb_operate_release(&worker->op, request, grant, err);
        lb_worker_look(worker);
        if (answer == LB_OK)
            return true;
        if (answer == LB_REFUSED) /* not ours any more */
            return false;
        lb_worker_refused(worker, answer, ++n_refusals, err);
        if (answer < 0 || answer == LB_LOST || lb_team_phase(worker->team) >= LB_PHASE_ABORT)
            return false;
        worker->op.holds = true;
    }
}

/* A clock that is ahead has an effect when its worker asks while another holds. Some protocols let
 * no other worker in for as long as it is ahead, so that this would depend on the begin of the run:
 * the worker waits for that moment, for a time. */
static void place_skewed(struct lb_worker *worker, const struct lb_request *request)
{
    struct lb_team *team = worker->team;
    const struct lb_scenario *scenario = team->scenario;
    if (worker->actor.clock_skew_ms == 0 || team->open_loop || request->capacity > 1)
        return;
    uint64_t give_up_ns = lb_now_ns() + scenario->skew_ns + 10 * scenario->hold_ns;
    while (!lb_live_is_held(team->live, request->resource) && lb_now_ns() < give_up_ns &&
           lb_worker_sleep(worker, lb_now_ns() + 1000000, LB_PHASE_STOP))
        worker->op.continued = false;
}

/* Numbers that commit in another order than they were drawn are seen when two are drawn at once,
 * which a pause before the COMMIT is there for: two workers set out together, or one goes alone
 * after a time.
 */
static void place_pair(struct lb_worker *worker)
{
    enum { LOOK_NS = 200000, PATIENCE = 10 };
    struct lb_team *team = worker->team;
    const struct lb_scenario *scenario = team->scenario;
    if (scenario->tx_pause_ns == 0 || team->open_loop || !team->enqueues)
        return;
    uint32_t place = atomic_fetch_add(&team->n_arrived, 1);
    uint64_t give_up_ns = lb_now_ns() + PATIENCE * scenario->tx_pause_ns;
    while (place % 2 == 0 && atomic_load(&team->n_arrived) == place + 1 &&
           lb_now_ns() < give_up_ns &&
           lb_worker_sleep(worker, lb_now_ns() + LOOK_NS, LB_PHASE_STOP))
        ;
    worker->op.continued = false;
}

static void cycle(struct lb_worker *worker, struct lb_request *request, struct lb_grant *grant)
{
    if (lb_worker_has_faults(worker))
        worker->team->events->asks(worker);
    choose(worker, request);
    place_skewed(worker, request);
    place_pair(worker);
    recover(worker);
    if (!worker->team->open_loop)
        worker->op.measured = lb_team_phase(worker->team) == LB_PHASE_MEASURE;
    uint64_t start_ns = worker->op.continued ? worker->op.end_ns : lb_now_ns();
    worker->op.end_ns = start_ns;
    lb_operator_continue(&worker->op);
    lb_worker_begin(worker, LB_M_ACQUIRE);
    lb_worker_begin(worker, LB_M_CYCLE);
    lb_worker_waits(worker, start_ns);
    int answer = wait_for_grant(worker, request, grant);
    lb_worker_waits(worker, 0);
    if (answer != LB_OK) {
        lb_worker_let_go(worker);
        worker->op.continued = false;
        uint64_t now_ns = lb_now_ns();
        lb_worker_end(worker, LB_M_ACQUIRE, start_ns, now_ns, false);
        lb_worker_end(worker, LB_M_CYCLE, start_ns, now_ns, false);
        lb_worker_was_busy(worker, start_ns, now_ns, false);
        return;
    }
    uint64_t granted_ns = worker->op.end_ns;
    if (lb_worker_end(worker, LB_M_ACQUIRE, start_ns, granted_ns, true))
        worker->n_successes++;
    atomic_store_explicit(&worker->progress,
                          atomic_load_explicit(&worker->progress, memory_order_relaxed) + 1,
                          memory_order_relaxed);

    lb_worker_begin(worker, LB_M_HOLD);
    uint64_t held_ns = hold(worker, request, grant);
    lb_worker_end(worker, LB_M_HOLD, granted_ns, held_ns, true);

    worker->op.end_ns = held_ns;
    lb_operator_continue(&worker->op);
    lb_worker_begin(worker, LB_M_RELEASE);
    bool released = release(worker, request, grant);
    lb_worker_let_go(worker);
    if (worker->is_late)
        atomic_fetch_sub(&worker->team->n_late, 1);
    worker->is_late = false;
    lb_guard_released(worker, released);
    if (lb_worker_has_faults(worker))
        worker->team->events->left(worker);
    uint64_t end_ns = worker->op.end_ns;
    lb_worker_end(worker, LB_M_RELEASE, held_ns, end_ns, released);
    bool counted = lb_worker_end(worker, LB_M_CYCLE, start_ns, end_ns, true);
    lb_worker_was_busy(worker, start_ns, end_ns, counted);
    lb_operator_continue(&worker->op);
}

void lb_worker_lock_loop(struct lb_worker *worker)
{
    const struct lb_scenario *scenario = worker->team->scenario;
    struct lb_request request = {0};
    struct lb_grant grant = {0};
    /* A worker starts somewhere within its think time, so that they do not march in step. */
    uint64_t think_ns =
        scenario->think_ns > 0 ? lb_random_below(&worker->random, scenario->think_ns) : 0;
    for (uint64_t done = 0; scenario->count == 0 || done < scenario->count; done++) {
        if (worker->team->open_loop) {
            worker->op.continued = false;
            if (!lb_worker_arrival(worker))
                break;
        } else if (think_ns > 0) {
            worker->op.continued = false;
            lb_team_wait(worker->team, lb_now_ns() + think_ns, LB_PHASE_STOP);
        }
        if (lb_team_phase(worker->team) >= LB_PHASE_DRAIN || !lb_worker_records(worker)) {
            if (worker->team->open_loop) /* neither planned nor begun */
                worker->counts[LB_M_ACQUIRE].planned -= worker->op.measured;
            break;
        }
        cycle(worker, &request, &grant);
        if (atomic_load(&worker->is_stopping))
            break;
        think_ns = scenario->think_ns;
    }
}
