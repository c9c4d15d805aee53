/* How a consumer ends the items that it has, and prolongs their claims: each by itself, or all of a
 * claim together where the strategy's statements take a list.
 */
#include "worker.h"

#include "memory.h"

#include <stdlib.h>

struct lb_ends {
    struct lb_batch batch;
    uint8_t *which; /* enum lb_op of each item of the claim */
};

bool lb_ends_together(const struct lb_strategy_plan *plan)
{
    return lb_strategy_takes_batch(plan, LB_S_COMPLETE) ||
           lb_strategy_takes_batch(plan, LB_S_ERROR) || lb_strategy_takes_batch(plan, LB_S_FREE);
}

void lb_ends_open(struct lb_worker *worker, uint32_t room)
{
    worker->ends = NULL;
    if (!lb_ends_together(worker->actor.plan) &&
        !lb_strategy_takes_batch(worker->actor.plan, LB_S_RENEW))
        return;
    worker->ends = lb_calloc(1, sizeof *worker->ends);
    worker->ends->which = lb_malloc(room);
    lb_batch_init(&worker->ends->batch, room, &worker->err);
}

void lb_ends_free(struct lb_worker *worker)
{
    if (worker->ends == NULL)
        return;
    lb_batch_release(&worker->ends->batch);
    free(worker->ends->which);
    free(worker->ends);
    worker->ends = NULL;
}

enum lb_op lb_worker_choose_end(struct lb_worker *worker, const struct lb_item *item)
{
    const struct lb_scenario *scenario = worker->team->scenario;
    if (worker->gives_back)
        return LB_OP_FREE;
    if (worker->poison != 0 && worker->poison == item->id) {
        worker->poison = 0;
        worker->fails = true;
        return lb_strategy_has(worker->actor.plan, LB_S_ERROR) &&
                       !lb_strategy_has(worker->actor.plan, LB_S_RETRY)
                   ? LB_OP_ERROR
                   : LB_OP_FREE;
    }
    double dice =
        scenario->error > 0 || scenario->free_share > 0 ? lb_random_unit(&worker->random) : 1;
    return dice < scenario->error                          ? LB_OP_ERROR
           : dice < scenario->error + scenario->free_share ? LB_OP_FREE
                                                           : LB_OP_COMPLETE;
}

/* From now on another worker may have it. Recurring work is due again, at once without a period. */
static void back(struct lb_team *team, const struct lb_item *item, enum lb_op which)
{
    const struct lb_program *program = team->plan->program;
    bool recurs = program != NULL && lb_program_recurs(program);
    if (which != LB_OP_COMPLETE || recurs || team->scenario->period_ns > 0 ||
        team->scenario->rounds > 1)
        lb_live_item_back(team->live, item->id);
}

static void note_error(struct lb_team *team, const struct lb_item *item)
{
    atomic_store(&team->errored_id, item->id);
    atomic_fetch_add(&team->n_errored, 1);
}

/* True if asking again is useless. Requests refused by contention are repeated. */
static bool is_over(struct lb_worker *worker, int answer, unsigned n_refusals)
{
    if (answer == LB_OK || answer == LB_REFUSED)
        return true;
    lb_worker_refused(worker, answer, n_refusals, &worker->err);
    return answer < 0 || answer == LB_LOST || lb_team_phase(worker->team) >= LB_PHASE_ABORT;
}

/* Counts the completions of an item, for the run. One in an open transaction may be undone. */
static void count_completion(struct lb_worker *worker, enum lb_op which, int answer)
{
    const struct lb_session *session = worker->actor.session; /* NULL: none was lent */
    if (which != LB_OP_COMPLETE || (session != NULL && session->in_tx))
        return;
    if (answer == LB_OK)
        atomic_fetch_add_explicit(&worker->n_completed, 1, memory_order_relaxed);
    else if (answer == LB_REFUSED)
        atomic_fetch_add_explicit(&worker->n_not_completed, 1, memory_order_relaxed);
}

/* Instead of being given back it may be due later, where the protocol has that. Work that failed is
 * always retried, because a protocol need not count free as an attempt. */
static bool is_retried(struct lb_worker *worker, enum lb_op which)
{
    const struct lb_strategy_plan *plan = worker->actor.plan;
    const bool fails = worker->fails;
    worker->fails = false;
    return which == LB_OP_FREE && lb_strategy_has(plan, LB_S_RETRY) &&
           (fails || !lb_strategy_has(plan, LB_S_FREE) || lb_random_unit(&worker->random) < 0.5);
}

/* May the next claim go out with the section's statement? */
static bool takes_claim(const struct lb_worker *worker, enum lb_op which)
{
    const struct lb_strategy_plan *plan = worker->actor.plan;
    const struct lb_session *session = worker->actor.session;
    return session->conn != NULL && !session->in_tx &&
           lb_strategy_unpiped(plan, lb_operate_section(which)) == NULL;
}

/* Ends the item, or the batch, and makes the next claim in the same round trip. Returns what came
 * of the end. */
static int end_and_claim(struct lb_worker *worker, enum lb_op which, struct lb_item *item,
                         struct lb_batch *batch)
{
    struct lb_team *team = worker->team;
    struct lb_next_claim *next = &worker->next;
    struct lb_pipeline *p = &next->pipeline;
    *p = (struct lb_pipeline){.item = item,
                              .batch = batch,
                              .n = (uint32_t)team->scenario->batch,
                              .items = next->items,
                              .max = lb_claim_room(team->scenario)};
    next->measured = lb_team_phase(team) == LB_PHASE_MEASURE;
    next->epoch = atomic_load(&team->epoch);
    lb_worker_waits(worker, lb_now_ns());
    lb_operate_pipeline(&worker->op, which, p, next->measured);
    next->start_ns = worker->op.start_ns;
    next->end_ns = worker->op.end_ns;
    worker->op.end_ns = p->ended_ns;
    /* A worker that lost its connection with the end connects again for the claim. */
    next->is_there = p->claim_answer != LB_LOST || p->end_answer != LB_LOST;
    if (!next->is_there || p->claim_answer == LB_OK || p->claim_answer == LB_EMPTY)
        lb_worker_waits(worker, 0);
    if (p->end_answer < 0)
        worker->err = p->end_err;
    return p->end_answer;
}

void lb_worker_end_item(struct lb_worker *worker, struct lb_item *item, enum lb_op which,
                        bool claims)
{
    struct lb_team *team = worker->team;
    back(team, item, which);
    lb_worker_begin(worker, LB_M_RELEASE);
    uint64_t start_ns = worker->op.end_ns;
    unsigned n_refusals = 0;
    bool later = is_retried(worker, which);
    int answer;
    claims = claims && !later && takes_claim(worker, which);
    do {
        answer = later    ? lb_operate_retry(&worker->op, item, &worker->err)
                 : claims ? end_and_claim(worker, which, item, NULL)
                          : lb_operate_item(&worker->op, which, item, &worker->err);
        claims = false;
    } while (!is_over(worker, answer, ++n_refusals));
    if (later)
        lb_team_note_due(team, worker->actor.plan->delay_ms);
    lb_worker_end(worker, LB_M_RELEASE, start_ns, worker->op.end_ns, answer == LB_OK);
    count_completion(worker, which, answer);
    if (which == LB_OP_ERROR && answer == LB_OK)
        note_error(team, item);
    lb_team_new_epoch(team);
}

/* Those items of the claim that are to be ended so. */
static void end_together(struct lb_worker *worker, enum lb_op which, bool claims)
{
    struct lb_team *team = worker->team;
    struct lb_batch *batch = &worker->ends->batch;
    for (uint32_t i = 0; i < batch->n; i++)
        back(team, batch->items[i], which);
    lb_worker_begin(worker, LB_M_RELEASE);
    uint64_t start_ns = worker->op.end_ns;
    unsigned n_refusals = 0;
    int answer;
    claims = claims && takes_claim(worker, which);
    do {
        answer = claims ? end_and_claim(worker, which, NULL, batch)
                        : lb_operate_batch(&worker->op, which, batch, &worker->err);
        claims = false;
    } while (!is_over(worker, answer, ++n_refusals));
    lb_worker_end(worker, LB_M_RELEASE, start_ns, worker->op.end_ns, answer == LB_OK);
    for (uint32_t i = 0; i < batch->n; i++)
        count_completion(worker, which, batch->answers[i]);
    for (uint32_t i = 0; which == LB_OP_ERROR && answer == LB_OK && i < batch->n; i++)
        if (batch->answers[i] == LB_OK)
            note_error(team, batch->items[i]);
    lb_team_new_epoch(team);
}

void lb_worker_end_batch(struct lb_worker *worker, struct lb_item *items, uint32_t n,
                         const bool *is_lost, bool claims)
{
    static const enum lb_op ways[] = {LB_OP_COMPLETE, LB_OP_ERROR, LB_OP_FREE};
    struct lb_team *team = worker->team;
    struct lb_ends *ends = worker->ends;
    uint32_t n_left = 0;
    for (uint32_t i = 0; i < n; i++) {
        ends->which[i] = (uint8_t)lb_worker_choose_end(worker, &items[i]);
        n_left += !is_lost[i];
    }
    for (uint32_t i = 0; lb_strategy_holds_in_tx(worker->actor.plan) && i < n; i++)
        lb_live_item_back(team->live, items[i].id); /* contention may give all of them back */
    worker->op.end_ns = lb_now_ns();
    lb_operator_continue(&worker->op);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        bool together = lb_strategy_takes_batch(worker->actor.plan, lb_operate_section(ways[w]));
        ends->batch.n = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (is_lost[i] || ends->which[i] != ways[w])
                continue;
            n_left--;
            if (together)
                ends->batch.items[ends->batch.n++] = &items[i];
            else
                lb_worker_end_item(worker, &items[i], ways[w], claims && n_left == 0);
        }
        if (ends->batch.n > 0)
            end_together(worker, ways[w], claims && n_left == 0);
        lb_operator_continue(&worker->op);
    }
}

void lb_worker_renew_batch(struct lb_worker *worker, struct lb_item *items, uint32_t n,
                           bool *is_lost)
{
    struct lb_team *team = worker->team;
    struct lb_batch *batch = &worker->ends->batch;
    batch->n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!is_lost[i]) {
            lb_live_item_back(team->live, items[i].id); /* not inside while it asks */
            batch->items[batch->n++] = &items[i];
        }
    if (batch->n == 0)
        return;
    worker->op.continued = false;
    if (lb_operate_batch(&worker->op, LB_OP_RENEW_ITEM, batch, &worker->err) < 0)
        lb_team_fail(team, &worker->err);
    for (uint32_t i = 0; i < batch->n; i++) {
        size_t place = (size_t)(batch->items[i] - items);
        is_lost[place] = batch->answers[i] == LB_REFUSED || batch->answers[i] == LB_LOST;
        if (!is_lost[place])
            lb_live_item(team->live, items[place].id, worker->number);
    }
}
