/* Producers and consumers of a queue.
 *
 * When is a queue drained? "Empty" alone does not say so: the items may be in another
 * consumer's open claim, and come back. The epoch grows whenever an item is put, claimed, or given
 * up; the queue is drained when every consumer has been answered "empty" to a claim that it
 * began in the present epoch, after the last put.
 */
#include "beater.h"
#include "chunks.h"
#include "classes.h"
#include "memory.h"
#include "starved.h"
#include "worker.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT_NS = 200000 }; /* between two checks of items that others are about to end */

/* Claims that end by themselves need no recovery: such a strategy's recover, meant for an operator,
 * frees all, unless it uses the time. */
static bool recovers(const struct lb_team *team)
{
    const struct lb_strategy_plan *plan = team->plan;
    return team->scenario->recover_ns > 0 && lb_strategy_has(plan, LB_S_RECOVER) &&
           (!plan->strategy->is_lease ||
            (plan->program != NULL && plan->program->recovers_by_time));
}

enum { CLOCKS_NS = 50000000 }; /* the database's clock need not run as ours */

/* Failed items are due by now: consumers may have got "empty" before. */
static void look_at_retried(struct lb_team *team)
{
    uint64_t retried_ns = atomic_load(&team->retried_ns);
    if (retried_ns > 0 && lb_now_ns() >= retried_ns &&
        atomic_compare_exchange_strong(&team->retried_ns, &retried_ns, 0))
        lb_team_new_epoch(team);
}

/* Are there items of the dead that a recovery will bring back? */
static bool awaits_recovery(struct lb_team *team)
{
    if (atomic_load(&team->retried_ns) > 0)
        return true;
    uint64_t death_ns = atomic_load(&team->item_death_ns);
    if (death_ns == 0)
        return false;
    if (team->plan->strategy->is_lease &&
        lb_now_ns() < death_ns + team->plan->ttl_ms * UINT64_C(1000000) + CLOCKS_NS)
        return true;
    return recovers(team) && atomic_load(&team->recovered_ns) <
                                 death_ns + team->plan->limit_ms * UINT64_C(1000000) + CLOCKS_NS;
}

bool lb_team_has_returned(const struct lb_team *team)
{
    const struct lb_strategy_plan *plan = team->plan;
    const struct lb_program *program = plan->program;
    const uint64_t lost_ns = atomic_load(&team->item_death_ns);
    const uint64_t ms = recovers(team) ? plan->limit_ms : plan->ttl_ms;
    if (lost_ns == 0 || program == NULL || team->has_others || program->reads_replica ||
        program->attempts > 0 || (plan->strategy->claims & LB_G_BIT(LB_G_RECOVERY)) == 0)
        return false;
    /* A process that is alive keeps what it has, also what it does not know of. */
    if (lb_strategy_has(plan, LB_S_HEARTBEAT) || lb_strategy_has(plan, LB_S_REGISTER))
        return false;
    if (!recovers(team) && !plan->strategy->is_lease)
        return false;
    uint64_t by_ns = recovers(team) ? atomic_load(&team->recovered_ns) : lb_now_ns();
    return by_ns >= lost_ns + ms * UINT64_C(1000000) + CLOCKS_NS;
}

/* True if a recovery may have brought an item back: one of a live or dead worker. */
static bool may_have_recovered(struct lb_worker *worker)
{
    struct lb_team *team = worker->team;
    struct lb_worker *first_consumer = lb_worker_first(worker);
    bool has_items = false;
    for (uint32_t i = 0; i < team->n_consumers && !has_items; i++)
        has_items = atomic_load(&first_consumer[i].seat_has_items);
    return has_items || awaits_recovery(team);
}

/* What an operator's job, or another consumer, does for the dead: one of the consumers does it when
 * it is due. An epoch for nothing would be one too many: consumers that are slower than the
 * interval would never all hear "empty" within one. */
static void recover(struct lb_worker *worker)
{
    struct lb_team *team = worker->team;
    uint64_t due_ns = atomic_load(&team->recover_due_ns), now_ns = lb_now_ns();
    if (!recovers(team) || !lb_strategy_has(worker->actor.plan, LB_S_RECOVER) || now_ns < due_ns ||
        !atomic_compare_exchange_strong(&team->recover_due_ns, &due_ns,
                                        now_ns + team->scenario->recover_ns))
        return;
    worker->op.continued = false;
    atomic_fetch_add(&team->n_adding, 1);
    int answer = lb_operate_class(&worker->op, LB_OP_RECOVER, &worker->err);
    lb_worker_look(worker);
    if (may_have_recovered(
            worker)) /* before it is noted: its freed items are not waited for any more */
        lb_team_new_epoch(team);
    bool has_run = answer == LB_OK || answer == LB_EMPTY;
    if (has_run)
        atomic_store(&team->recovered_ns, now_ns);
    atomic_fetch_sub(&team->n_adding, 1);
    if (!has_run)
        lb_worker_refused(worker, answer, 1, &worker->err);
}

/* An operator's tasks: errors are cleared, of one item and then of all, or done items are made
 * claimable again. Tasks without a statement in the strategy are left out. */
static void operate(struct lb_worker *worker, struct lb_item *item, bool clears)
{
    struct lb_team *team = worker->team;
    const enum lb_op all = clears ? LB_OP_CLEAR_ALL : LB_OP_RESET_ALL;
    int answer = LB_OK;
    unsigned n_refusals = 0;
    item->id = clears ? atomic_exchange(&team->errored_id, 0) : 0;
    if (item->id != 0 && lb_strategy_has(worker->actor.plan, LB_S_CLEAR_ERROR))
        answer = lb_operate_item(&worker->op, LB_OP_CLEAR_ERROR, item, &worker->err);
    if (answer < 0 ||
        !lb_strategy_has(worker->actor.plan, clears ? LB_S_CLEAR_ALL_ERRORS : LB_S_RESET_ALL))
        return;
    while ((answer = lb_operate_class(&worker->op, all, &worker->err)) != LB_OK &&
           answer != LB_EMPTY && lb_worker_refused(worker, answer, ++n_refusals, &worker->err))
        continue;
}

/* Rounds: once there is nothing left to claim, an operator clears the errors. When that is drained
 * as well he makes claimable again what is done: at once it would hide an operation on errors that
 * takes what is done, too. true: there is something to claim again. */
static bool begin_round(struct lb_worker *worker, struct lb_item *item, uint64_t epoch)
{
    struct lb_team *team = worker->team;
    uint64_t left = atomic_load(&team->n_operator_steps);
    if (left == 0 || atomic_load(&team->epoch) != epoch)
        return false;
    if (!atomic_compare_exchange_strong(&team->n_operator_steps, &left, left - 1))
        return true; /* another consumer is at it */
    lb_team_new_epoch(team);
    atomic_fetch_add(&team->n_adding, 1);
    /* Nobody has anything while it works, so that the history alone says what was reset. */
    atomic_store(&team->in_reset, true);
    while (atomic_load(&team->n_claiming) > 1 &&
           lb_worker_sleep(worker, lb_now_ns() + SHORT_NS, LB_PHASE_ABORT))
        continue;
    worker->op.continued = false;
    operate(worker, item, left % 2 == 0);
    atomic_store(&team->in_reset, false);
    lb_team_new_epoch(team);
    atomic_fetch_sub(&team->n_adding, 1);
    return true;
}

/* With rounds: waits while all is being reset, and says that it claims. The counter goes up before
 * the flag is read, and the flag before the counter: one of the two sees the other. */
static void begin_claim(struct lb_team *team)
{
    while (team->scenario->rounds > 1) {
        atomic_fetch_add(&team->n_claiming, 1);
        if (!atomic_load(&team->in_reset) || lb_team_phase(team) >= LB_PHASE_STOP)
            return;
        atomic_fetch_sub(&team->n_claiming, 1);
        lb_team_wait(team, lb_now_ns() + SHORT_NS, LB_PHASE_STOP);
    }
}

static void end_claim(struct lb_team *team)
{
    if (team->scenario->rounds > 1)
        atomic_fetch_sub(&team->n_claiming, 1);
}

/* Chunked update: once there is nothing left to claim, failed items are made claimable again. true:
 * there were some, and the queue is not drained. */
static bool restart(struct lb_worker *worker, uint64_t epoch)
{
    struct lb_team *team = worker->team;
    if (team->scenario->rows == 0 || atomic_load(&team->n_errored) == 0 ||
        atomic_load(&team->epoch) != epoch)
        return false;
    lb_team_new_epoch(team);
    uint64_t n = atomic_exchange(&team->n_errored, 0);
    if (n == 0)
        return true; /* another consumer is at it */
    worker->op.continued = false;
    int answer = lb_operate_class(&worker->op, LB_OP_CLEAR_ALL, &worker->err);
    if (answer == LB_OK) {
        atomic_fetch_add(&team->n_restarts, 1);
    } else {
        atomic_fetch_add(&team->n_errored, n);
        lb_worker_refused(worker, answer, 1, &worker->err);
    }
    lb_team_new_epoch(team);
    return true;
}

/* A claim that steps over locked rows finds nothing beside one that has locked them all, and then
 * finds nothing either, as its snapshot is old. So all consumers ask once more, in an epoch that
 * begins when all of these have ended. true: this was the second time. Ranks ask in waves of their
 * own, see peers.c. A protocol that pushes locks nothing while it is silent. */
static bool is_confirmed(struct lb_team *team, uint64_t epoch)
{
    uint64_t now = epoch;
    if (team->has_others || team->plan->strategy->is_pushed ||
        atomic_load(&team->confirming) == epoch)
        return true;
    if (atomic_compare_exchange_strong(&team->epoch, &now, epoch + 1))
        atomic_store(&team->confirming, epoch + 1);
    return false;
}

/* Remembers an "empty" to a claim that began in epoch; was that the last consumer to hear it? */
static void note_empty(struct lb_worker *worker, struct lb_worker *first_consumer,
                       struct lb_item *item, uint64_t epoch)
{
    struct lb_team *team = worker->team;
    atomic_store(&first_consumer[worker->seat].empty_epoch, epoch + 1);
    /* With producers, or items that are due again, empty is but for now. */
    if ((team->scenario->producers > 0 || team->scenario->period_ns > 0) &&
        lb_team_phase(team) < LB_PHASE_DRAIN)
        return;
    for (uint32_t i = 0; i < team->n_consumers; i++)
        if (atomic_load(&first_consumer[i].empty_epoch) != epoch + 1)
            return;
    /* All but the locked items: these are freed once the measured part is over. */
    if (atomic_load(&team->ahead_is_locked)) {
        atomic_store(&team->only_ahead, true);
        lb_common_wake(&team->common);
        return;
    }
    /* The epoch comes last: the worker that clears the errors makes a new one first. */
    if (atomic_load(&team->n_adding) == 0 && !awaits_recovery(team) && is_confirmed(team, epoch) &&
        !restart(worker, epoch) && !begin_round(worker, item, epoch) &&
        atomic_load(&team->epoch) == epoch) {
        if (team->has_others) /* may put back what they have */
            atomic_store(&team->emptied, epoch + 1);
        else
            atomic_store(&team->drained, true);
        lb_common_wake(&team->common);
    }
}

/* Work that fails in the middle: half of the range is updated, and commits with the error. */
static void update_half(struct lb_worker *worker, const struct lb_item *item)
{
    if (lb_chunks_update(worker, item->id, true, &worker->err) < 0)
        lb_team_fail(worker->team, &worker->err);
}

/* The item's range, of an item that is to be completed. Returns what is to become of the item. */
static enum lb_op update_chunk(struct lb_worker *worker, const struct lb_item *item)
{
    struct lb_error *err = &worker->err;
    int answer = lb_chunks_update(worker, item->id, false, err);
    if (answer < 0)
        lb_team_fail(worker->team, err);
    /* Contention inside of the strategy's transaction: the claim goes with it. */
    return answer == LB_OK ? LB_OP_COMPLETE : LB_OP_FREE;
}

/* Open loop: how long after it was meant to arrive was the item claimed? */
static void note_arrival(struct lb_worker *worker, int64_t id, uint64_t claimed_ns)
{
    struct lb_team *team = worker->team;
    uint64_t after_ns = 0;
    if (!team->open_loop || id < 1 || !worker->op.measured)
        return;
    uint64_t mark = atomic_load_explicit(&team->due[lb_watched_place(id)], memory_order_relaxed);
    if (!lb_due_read(mark, id, &after_ns)) {
        if ((uint64_t)id > team->scenario->backlog) /* which does not arrive */
            atomic_fetch_add_explicit(&team->n_displaced, 1, memory_order_relaxed);
        return;
    }
    uint64_t due_ns = team->schedule_start_ns + after_ns;
    lb_histogram_record(worker->response[LB_M_ACQUIRE], claimed_ns - due_ns);
    lb_coarse_record(&worker->coarse, claimed_ns - due_ns);
}

/* Several classes: is it one of its own? */
static void note_class(struct lb_worker *worker, int64_t id)
{
    struct lb_team *team = worker->team;
    const struct lb_scenario *scenario = team->scenario;
    if (scenario->classes < 2 || lb_class_of(scenario, id) == worker->seat % scenario->classes)
        return;
    atomic_store(&team->stray_id, id);
    atomic_fetch_add(&team->n_strays, 1);
}

/* --- what a claim brought --- */

struct hand {
    struct lb_item *items;
    uint32_t n;
    uint64_t renew_ns; /* when the next renewal is due; 0: never */
    bool is_batch;     /* all are in hand up to the end */
    bool *is_lost;     /* told so by a renewal */
};

/* Renews the claims of the item at a place and of those behind it. A worker that learns that an
 * item is no longer its own, or loses its connection, has it no more. After contention it is tried
 * again when the next one is due. */
static void renew_from(struct lb_worker *worker, struct hand *hand, uint32_t place)
{
    struct lb_team *team = worker->team;
    if (lb_strategy_takes_batch(worker->actor.plan, LB_S_RENEW)) {
        lb_worker_renew_batch(worker, hand->items + place, hand->n - place, hand->is_lost + place);
        return;
    }
    for (uint32_t i = place; i < hand->n; i++) {
        if (hand->is_lost[i])
            continue;
        lb_live_item_back(team->live, hand->items[i].id); /* not inside while it asks */
        worker->op.continued = false;
        int answer = lb_operate_item(&worker->op, LB_OP_RENEW_ITEM, &hand->items[i], &worker->err);
        if (answer < 0)
            lb_team_fail(team, &worker->err);
        else
            lb_worker_note_refusal(worker, answer);
        hand->is_lost[i] = answer == LB_REFUSED || answer == LB_LOST;
        if (!hand->is_lost[i])
            lb_live_item(team->live, hand->items[i].id, worker->number);
    }
}

/* Waits until a time, and renews what is in hand on the way. */
static void work_until(struct lb_worker *worker, struct hand *hand, uint32_t place,
                       uint64_t until_ns)
{
    struct lb_team *team = worker->team;
    while (hand->renew_ns > 0 && hand->renew_ns < until_ns && !hand->is_lost[place] &&
           lb_worker_sleep(worker, hand->renew_ns, LB_PHASE_ABORT)) {
        renew_from(worker, hand, hand->is_batch ? 0 : place);
        hand->renew_ns += team->scenario->renew_ns;
        if (hand->renew_ns < lb_now_ns()) /* missed renewals are not made up for */
            hand->renew_ns = lb_now_ns() + team->scenario->renew_ns;
    }
    if (!hand->is_lost[place])
        lb_worker_sleep(worker, until_ns, LB_PHASE_ABORT);
}

/* A claim by a transaction that stays open needs no renewal. */
static bool renews(const struct lb_worker *worker)
{
    const struct lb_strategy_plan *plan = worker->actor.plan;
    return worker->team->scenario->renew_ns > 0 && lb_strategy_has(plan, LB_S_RENEW) &&
           !lb_strategy_holds_in_tx(plan);
}

/* With pipelines: is the next thing that the worker does a claim, whatever becomes of this one? */
static bool claims_next(const struct lb_worker *worker)
{
    const struct lb_team *team = worker->team;
    return worker->next.items != NULL && worker->next.is_wanted &&
           !atomic_load(&worker->is_stopping) && lb_team_phase(team) < LB_PHASE_STOP &&
           worker->op.log_error == 0 &&
           (!recovers(team) || lb_now_ns() < atomic_load(&team->recover_due_ns));
}

/* One item after the other: worked on, and ended. */
static void process_each(struct lb_worker *worker, struct hand *hand, uint64_t claimed_ns)
{
    struct lb_team *team = worker->team;
    struct lb_item *items = hand->items;
    uint32_t n = hand->n;
    for (uint32_t i = 0; i < n; i++) {
        if (team->scenario->hold_ns > 0)
            work_until(worker, hand, i,
                       lb_now_ns() + lb_service_draw(&team->service, &worker->random));
        if (hand->is_lost[i]) {
            if (i == 0)
                lb_worker_end(worker, LB_M_HOLD, claimed_ns, lb_now_ns(), true);
            continue;
        }
        team->events->holds(worker, NULL, items + i, n - i);
        if (worker->leaves) {
            if (i == 0)
                lb_worker_end(worker, LB_M_HOLD, claimed_ns, lb_now_ns(), true);
            team->events->left(worker);
            return;
        }
        enum lb_op which = lb_worker_choose_end(worker, &items[i]);
        uint64_t end_ns = 0;
        if (i == 0 && lb_strategy_holds_in_tx(worker->actor.plan))
            for (uint32_t k = 0; k < n; k++) /* contention may give all of them back from now on */
                lb_live_item_back(team->live, items[k].id);
        if (worker->chunks != NULL && which == LB_OP_COMPLETE) {
            uint64_t update_ns = lb_now_ns();
            which = update_chunk(worker, &items[i]);
            /* A refused update may have ended the claim: it was given up when that began. */
            end_ns = which == LB_OP_COMPLETE ? 0 : update_ns;
        }
        if (worker->chunks != NULL && which == LB_OP_ERROR && team->scenario->partial)
            update_half(worker, &items[i]);
        team->events->leaves(worker, items[i].id);
        if (i == 0)
            lb_worker_end(worker, LB_M_HOLD, claimed_ns, lb_now_ns(), true);
        worker->op.end_ns = end_ns != 0 ? end_ns : lb_now_ns();
        lb_operator_continue(&worker->op);
        lb_worker_end_item(worker, &items[i], which, i + 1 == n && claims_next(worker));
        lb_worker_look(worker);
        team->events->left(worker);
    }
}

/* All are worked on, and then ended together: until then the worker has them all. */
static void process_batch(struct lb_worker *worker, struct hand *hand, uint64_t claimed_ns)
{
    struct lb_team *team = worker->team;
    for (uint32_t i = 0; i < hand->n; i++) {
        if (team->scenario->hold_ns > 0)
            work_until(worker, hand, i,
                       lb_now_ns() + lb_service_draw(&team->service, &worker->random));
        if (hand->is_lost[i])
            continue;
        if (!worker->leaves)
            team->events->holds(worker, NULL, hand->items, hand->n);
        team->events->leaves(worker, hand->items[i].id);
    }
    lb_worker_end(worker, LB_M_HOLD, claimed_ns, lb_now_ns(), true);
    if (!worker->leaves)
        lb_worker_end_batch(worker, hand->items, hand->n, hand->is_lost, claims_next(worker));
    lb_worker_look(worker);
    team->events->left(worker);
}

static void process(struct lb_worker *worker, struct lb_item *items, uint32_t n, uint64_t start_ns)
{
    struct lb_team *team = worker->team;
    uint64_t claimed_ns = worker->op.end_ns;
    for (uint32_t i = 0; i < n; i++) {
        note_arrival(worker, items[i].id, claimed_ns);
        note_class(worker, items[i].id);
    }
    for (uint32_t i = 0; i < n; i++)
        lb_live_item(team->live, items[i].id, worker->number);
    lb_worker_begin(worker, LB_M_HOLD);
    struct hand hand = {.items = items, .n = n, .is_lost = worker->lost_items};
    hand.renew_ns = renews(worker) ? claimed_ns + team->scenario->renew_ns : 0;
    hand.is_batch = lb_ends_together(worker->actor.plan) && worker->chunks == NULL;
    memset(hand.is_lost, 0, n * sizeof *hand.is_lost);
    if (hand.is_batch)
        process_batch(worker, &hand, claimed_ns);
    else
        process_each(worker, &hand, claimed_ns);
    lb_worker_let_go(worker);
    bool counted = lb_worker_end(worker, LB_M_CYCLE, start_ns, worker->op.end_ns, true);
    lb_worker_was_busy(worker, start_ns, worker->op.end_ns, counted);
}

/* Takes the result of the claim that was sent with the end before it. Its items are in *items
 * now. */
static int take_next(struct lb_worker *worker, struct lb_item **items, uint32_t *ret_n,
                     uint64_t *ret_epoch)
{
    struct lb_next_claim *next = &worker->next;
    const struct lb_pipeline *p = &next->pipeline;
    struct lb_item *free_now = *items;
    next->is_there = false;
    *items = next->items;
    next->items = free_now;
    *ret_n = p->got < p->max ? p->got : p->max;
    *ret_epoch = next->epoch;
    worker->op.end_ns = next->end_ns;
    if (p->claim_answer < 0)
        worker->err = p->claim_err;
    return p->claim_answer;
}

/* This worker has given up its claim's items, but has those of its next claim by now. */
static void let_go(struct lb_worker *worker, struct lb_worker *first_consumer)
{
    if (worker->next.is_there && worker->next.pipeline.claim_answer == LB_OK)
        return;
    lb_process_has_items(worker, false);
    atomic_store(&first_consumer[worker->seat].seat_has_items, false);
}

/* One claim, with its tries, and the work on what it brought. */
static void claim_once(struct lb_worker *worker, struct lb_worker *first_consumer,
                       struct lb_item **items)
{
    struct lb_team *team = worker->team;
    const struct lb_scenario *scenario = team->scenario;
    struct lb_error *err = &worker->err;
    const struct lb_program *stated = lb_strategy_stated(team->plan);
    const uint32_t rate_ms = stated != NULL ? stated->rate_ms : 0;
    bool is_made = worker->next.is_there;
    worker->op.measured = is_made ? worker->next.measured : lb_team_phase(team) == LB_PHASE_MEASURE;
    lb_worker_begin(worker, LB_M_ACQUIRE);
    uint64_t start_ns = is_made ? worker->next.start_ns : lb_now_ns();
    worker->op.end_ns = start_ns;
    worker->op.continued = !is_made; /* else its end may have been asked for again since */
    unsigned n_refusals = 0;
    if (!is_made)
        lb_worker_waits(worker, start_ns);
    for (;; is_made = false) {
        uint32_t n = 0;
        uint64_t epoch = atomic_load(&team->epoch);
        int answer = is_made ? take_next(worker, items, &n, &epoch)
                             : lb_operate_claim(&worker->op, (uint32_t)scenario->batch, *items,
                                                lb_claim_room(scenario), &n, err);
        lb_worker_look(worker);
        if (answer == LB_OK || answer == LB_EMPTY)
            lb_worker_waits(worker, 0);
        if (rate_ms > 0 && (answer == LB_OK || answer == LB_LOST)) /* empty for that time */
            lb_team_note_due(team, 2 * rate_ms);
        if (answer == LB_OK) {
            atomic_store(&first_consumer[worker->seat].seat_has_items, true);
            lb_team_new_epoch(team);
            bool counted = lb_worker_end(worker, LB_M_ACQUIRE, start_ns, worker->op.end_ns, true);
            lb_worker_begin(worker, LB_M_CYCLE);
            if (counted) {
                worker->n_successes += n;
                worker->n_items += n;
            }
            atomic_fetch_add_explicit(&worker->progress, n, memory_order_relaxed);
            lb_process_has_items(worker, true);
            process(worker, *items, n, start_ns);
            let_go(worker, first_consumer);
            return;
        }
        if (answer == LB_EMPTY)
            note_empty(worker, first_consumer, *items, epoch);
        bool go_on = lb_worker_refused(worker, answer, ++n_refusals, err);
        bool tries_left = scenario->tries == 0 || n_refusals < scenario->tries;
        if (answer != LB_EMPTY && answer >= 0 && answer != LB_LOST && go_on && tries_left)
            continue;
        lb_worker_waits(worker, 0);
        lb_worker_gave_up(worker,
                          answer > 0 && answer != LB_EMPTY && answer != LB_LOST && !tries_left);
        lb_worker_end(worker, LB_M_ACQUIRE, start_ns, worker->op.end_ns, false);
        return;
    }
}

void lb_worker_stop(struct lb_worker *worker)
{
    unsigned n_refusals = 0;
    int answer = LB_OK;
    if (lb_strategy_has(worker->actor.plan, LB_S_STOP) && !worker->has_stopped)
        while ((answer = lb_operate_stop(&worker->op, &worker->err)) != LB_OK &&
               answer != LB_LOST && lb_team_phase(worker->team) < LB_PHASE_ABORT)
            lb_worker_refused(worker, answer, ++n_refusals, &worker->err);
    worker->has_stopped = true;
    lb_team_new_epoch(worker->team);
}

static void free_items(struct lb_worker *worker, struct lb_item *items)
{
    lb_ends_free(worker);
    free(worker->next.items);
    free(worker->lost_items);
    free(items);
    worker->next.items = NULL;
}

/* Allocates room for claimed items, and for their ends. */
static struct lb_item *open_items(struct lb_worker *worker)
{
    uint32_t room = lb_claim_room(worker->team->scenario);
    worker->lost_items = lb_calloc(room, sizeof *worker->lost_items);
    worker->next = (struct lb_next_claim){0};
    if (worker->team->plan->is_pipelined)
        worker->next.items = lb_calloc(room, sizeof *worker->next.items);
    lb_ends_open(worker, room);
    return lb_calloc(room, sizeof(struct lb_item));
}

void lb_worker_consume_loop(struct lb_worker *worker)
{
    struct lb_team *team = worker->team;
    const struct lb_scenario *scenario = team->scenario;
    struct lb_worker *first_consumer = lb_worker_first(worker); /* consumers come first */
    struct lb_item *items = open_items(worker);
    if (scenario->classes > 1)
        worker->actor.task_class =
            lb_class_name(scenario, worker->seat % scenario->classes, worker->class_name);
    /* The death event accounts for the items of dead workers in this seat. */
    atomic_store(&first_consumer[worker->seat].seat_has_items, false);
    lb_process_begin(worker);
    uint64_t next_ns = lb_now_ns();
    for (uint64_t done = 0; scenario->count == 0 || done < scenario->count; done++) {
        if (scenario->claim_interval_ns > 0 && lb_team_phase(team) < LB_PHASE_DRAIN)
            lb_worker_sleep(worker, next_ns += scenario->claim_interval_ns, LB_PHASE_DRAIN);
        if (!worker->next.is_there && (lb_team_phase(team) >= LB_PHASE_STOP ||
                                       atomic_load(&team->drained) || !lb_worker_records(worker)))
            break;
        worker->next.is_wanted = scenario->count == 0 || done + 1 < scenario->count;
        recover(worker);
        look_at_retried(team);
        begin_claim(team);
        claim_once(worker, first_consumer, &items);
        end_claim(team);
        if (atomic_load(&worker->is_stopping)) {
            lb_worker_stop(worker);
            break;
        }
    }
    lb_process_end(worker);
    free_items(worker, items);
}

/* Items that one operation puts. They are put under new ids after an outcome that is unknown, never
 * again under the old ones. */
static void put_items(struct lb_worker *worker, int64_t id, uint32_t n)
{
    struct lb_team *team = worker->team;
    if (!team->open_loop)
        worker->op.measured = lb_team_phase(team) == LB_PHASE_MEASURE;
    if (team->open_loop)
        atomic_store_explicit(&team->due[lb_watched_place(id)],
                              lb_due_mark(id, worker->intended_ns - team->schedule_start_ns),
                              memory_order_relaxed);
    if (team->scenario->classes > 1)
        worker->actor.task_class =
            lb_class_name(team->scenario, lb_class_of(team->scenario, id), worker->class_name);
    lb_worker_begin(worker, LB_M_PUT);
    unsigned n_refusals = 0;
    uint64_t start_ns = lb_now_ns();
    int answer;
    while ((answer = lb_operate_put(&worker->op, id, n, worker->payload, &worker->err)) != LB_OK)
        if (lb_strategy_refuses(worker->actor.plan, answer) ||
            !lb_worker_refused(worker, answer, ++n_refusals, &worker->err))
            break;
    lb_team_new_epoch(team);
    lb_worker_end(worker, LB_M_PUT, start_ns, worker->op.end_ns, answer == LB_OK);
}

/* As many as the scenario says. Numbers are drawn, and each represents put_batch ids after the
 * backlog's, since those of one statement follow each other, and other ranks draw numbers between.
 * A statement that puts one item is an operation of its own for each item: a part of the batch may
 * happen. */
static void put_batch(struct lb_worker *worker)
{
    struct lb_team *team = worker->team;
    const struct lb_scenario *scenario = team->scenario;
    const struct lb_program *program = worker->actor.plan->program;
    uint32_t n = (uint32_t)scenario->put_batch;
    uint32_t each = program != NULL && !program->puts_one ? n : 1;
    int64_t first = (int64_t)(scenario->dead_rows + scenario->backlog) + 1;
    first += (lb_common_new_id(&team->common) - first) * n;
    for (uint32_t done = 0; done < n; done += each)
        put_items(worker, first + done, each);
}

void lb_worker_produce_loop(struct lb_worker *worker)
{
    struct lb_team *team = worker->team;
    const struct lb_scenario *scenario = team->scenario;
    uint64_t next_ns = lb_now_ns();
    if (scenario->put_interval_ns > 0) /* producers do not march in step */
        next_ns += lb_random_below(&worker->random, scenario->put_interval_ns);
    for (uint64_t done = 0; scenario->count == 0 || done < scenario->count; done++) {
        if (team->open_loop) {
            if (!lb_worker_arrival(worker))
                break;
        } else if (scenario->put_interval_ns > 0) {
            lb_worker_sleep(worker, next_ns += scenario->put_interval_ns, LB_PHASE_DRAIN);
        }
        /* A worker that finds the queue drained has seen no producer here; a later one sees the
         * phase. */
        atomic_fetch_add(&team->n_adding, 1);
        bool go_on =
            !lb_common_has_come(&team->common, LB_PHASE_DRAIN) && lb_worker_records(worker);
        if (go_on)
            put_batch(worker);
        else if (team->open_loop) /* neither planned nor begun */
            worker->counts[LB_M_PUT].planned -= worker->op.measured;
        atomic_fetch_sub(&team->n_adding, 1);
        if (!go_on)
            break;
    }
}
