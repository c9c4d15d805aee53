/* The script of a task from its first step to its last: the requested rounds, each attempt through
 * the recorded operations that runs use too.
 *
 * An operation that was refused is tried again; the search lets it as soon as the answer could be
 * another one. One that keeps changing something without getting anywhere is given up after `polls`
 * refusals, and the result says so.
 */
#include "testbed.h"

#include "note.h"

#include <string.h>

struct script {
    struct lb_task *task;
    struct lb_request request;
    struct lb_grant grants[LB_EXPLORE_RESOURCES];
    bool gives_up; /* as soon as it is refused, in this round */
};

/* The grant of the requested resource, or the last one. */
static struct lb_grant *grant_of(struct script *script)
{
    return &script->grants[script->request.resource];
}

/* The gate before a try; LB_TIMEOUT when there have been too many. */
static int begin_try(struct lb_task *task, enum lb_step_kind kind, struct lb_error *err)
{
    int r = lb_task_begin_try(task, kind, err);
    if (r < 0 || task->n_refusals < task->testbed->plan.polls)
        return r;
    task->gave_up = true;
    return LB_TIMEOUT;
}

/* What a waiter keeps from one try to the next: what the columns of enqueue and of the polls before
 * said. Its clock is asked anew each time. */
static uint64_t digest_of_memory(const struct lb_bag *bag)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < LB_SLOTS; i++) {
        const struct lb_value *value = &bag->value[i];
        uint64_t of_value = (uint64_t)value->type + 1;
        if (i == LB_SLOT_NOW)
            continue;
        if (value->type == LB_INT)
            of_value += (uint64_t)value->integer;
        for (uint32_t k = 0; value->type == LB_TEXT && k < value->length; k++)
            of_value = of_value * 31 + (unsigned char)value->text[k];
        digest = lb_mix(digest, of_value);
    }
    return digest;
}

typedef int lb_lock_operation(struct lb_operator *op, const struct lb_request *request,
                              struct lb_grant *grant, struct lb_error *err);

/* Until it is not refused any more. */
static int insist(struct script *script, lb_lock_operation *operate, enum lb_step_kind kind,
                  struct lb_error *err)
{
    struct lb_task *task = script->task;
    bool is_release = kind == LB_STEP_LEAVE;
    const struct lb_strategy_plan *plan = task->actor.plan;
    bool remembers = operate == lb_operate_acquire && lb_strategy_has(plan, LB_S_ENQUEUE);
    task->n_refusals = 0;
    task->has_seen = task->saw_it_outlived = false;
    for (;;) {
        int r = begin_try(task, kind, err);
        if (r != 0)
            return r;
        uint64_t memory = remembers ? digest_of_memory(&grant_of(script)->bag) : 0;
        r = operate(&task->op, &script->request, grant_of(script), err);
        if (is_release && r == LB_REFUSED)
            return r;
        bool learned = remembers && digest_of_memory(&grant_of(script)->bag) != memory;
        if (!lb_task_retries(task, r, learned))
            return r;
        if (script->gives_up && operate == lb_operate_acquire)
            return LB_TIMEOUT;
        task->op.holds = is_release;
    }
}

/* Before each try of an operation: is it to be made? *r: FIRST_TRY, then what the try before came
 * to, and at the end the operation's result. ends: answers, a bit each, that are no refusals. */
enum { FIRST_TRY = LB_ANSWERS };
static bool tries(struct lb_task *task, enum lb_step_kind kind, unsigned ends, int *r,
                  struct lb_error *err)
{
    if (*r == FIRST_TRY)
        task->n_refusals = 0;
    else if (*r < LB_OK || (ends >> *r & 1) != 0 || !lb_task_retries(task, *r, false))
        return false;
    *r = begin_try(task, kind, err);
    return *r == LB_OK;
}

enum life { SWEEPS, ENROLLS, BEATS, SIGNS_OFF };

/* The operations of its process: before its first claim, as a sign of life, or at its end. */
static int live(struct lb_task *task, enum life what, struct lb_error *err)
{
    int r = FIRST_TRY;
    while (tries(task, LB_STEP_POLL, 1u << LB_REFUSED, &r, err))
        r = what == SWEEPS      ? lb_operate_sweep(&task->op, err)
            : what == SIGNS_OFF ? lb_operate_sign_off(&task->op, task->number, err)
                                : lb_operate_beat(&task->op, what == ENROLLS, task->number, err);
    if (r == LB_OK)
        lb_task_note(task, what == SWEEPS      ? "its process has swept"
                           : what == ENROLLS   ? "its process is registered"
                           : what == SIGNS_OFF ? "its process has ended in order"
                                               : "its process is alive");
    return r;
}

/* LB_REFUSED: its process is not registered any more; it registers again, and goes on. */
static int beat(struct lb_task *task, struct lb_error *err)
{
    int r = live(task, BEATS, err);
    if (r == LB_REFUSED && lb_strategy_has(task->actor.plan, LB_S_REGISTER))
        r = live(task, ENROLLS, err);
    return r == LB_REFUSED ? LB_OK : r;
}

static int begin_process(struct lb_task *task, struct lb_error *err)
{
    const struct lb_strategy_plan *plan = task->actor.plan;
    int r = LB_OK;
    if ((task->role != LB_ROLE_WORKER && task->role != LB_ROLE_LATE) || plan->program == NULL)
        return r;
    if (lb_strategy_has(plan, LB_S_SWEEP))
        r = live(task, SWEEPS, err);
    if (r >= LB_OK && r != LB_LOST && lb_strategy_has(plan, LB_S_REGISTER))
        r = live(task, ENROLLS, err);
    else if (r >= LB_OK && r != LB_LOST && lb_strategy_has(plan, LB_S_HEARTBEAT))
        r = beat(task, err);
    return r;
}

/* Heartbeats. LB_REFUSED: the worker no longer has it. */
static int renew(struct script *script, struct lb_item *item, struct lb_error *err)
{
    struct lb_task *task = script->task;
    int r = LB_OK;
    if (item != NULL && lb_strategy_has(task->actor.plan, LB_S_HEARTBEAT))
        for (uint32_t i = 0; i < task->testbed->plan.renewals && r == LB_OK; i++)
            r = beat(task, err);
    bool together = item != NULL && lb_strategy_takes_batch(task->actor.plan, LB_S_RENEW);
    if (!lb_strategy_has(task->actor.plan, LB_S_RENEW) || together)
        return r;
    for (uint32_t i = 0; i < task->testbed->plan.renewals && r == LB_OK; i++) {
        task->n_refusals = 0;
        do {
            r = begin_try(task, LB_STEP_POLL, err);
            if (r != 0)
                return r;
            r = item != NULL ? lb_operate_item(&task->op, LB_OP_RENEW_ITEM, item, err)
                             : lb_operate_renew(&task->op, &script->request, grant_of(script), err);
        } while (r != LB_REFUSED && lb_task_retries(task, r, false));
        lb_task_note(task, r == LB_OK ? "renewed" : "told that it is over");
    }
    return r;
}

/* Gives up its place: LB_TIMEOUT, or an error, or LB_LOST. */
static int leave_line(struct script *script, struct lb_error *err)
{
    struct lb_task *task = script->task;
    int r;
    task->refused.is_refused = false; /* it waits for nothing */
    task->n_refusals = 0;
    do {
        r = begin_try(task, LB_STEP_POLL, err);
        if (r != 0)
            return r;
        r = lb_operate_cancel(&task->op, &script->request, grant_of(script), err);
    } while (r != LB_REFUSED && lb_task_retries(task, r, false));
    lb_task_note(task, "gave up");
    return r < 0 || r == LB_LOST ? r : LB_TIMEOUT;
}

/* Asks until it is granted: LB_OK, or the reason why it was not. */
static int take_lock(struct script *script, struct lb_error *err)
{
    struct lb_task *task = script->task;
    const struct lb_strategy_plan *plan = task->actor.plan;
    int r = LB_OK;
    if (lb_strategy_has(plan, LB_S_ENQUEUE))
        r = insist(script, lb_operate_enqueue, LB_STEP_POLL, err);
    if (r != LB_OK)
        return r;
    r = insist(script, lb_operate_acquire, LB_STEP_POLL, err);
    return r == LB_TIMEOUT && lb_strategy_has(plan, LB_S_CANCEL) ? leave_line(script, err) : r;
}

/* Acquires the resource and those behind it, and releases them in the opposite order. A worker with
 * a resource of its own keeps it: another one that waits for it waits for ever. */
static int lock_round(struct script *script, uint32_t resource, struct lb_error *err)
{
    struct lb_task *task = script->task;
    const uint32_t n_resources = task->actor.plan->n_resources;
    const bool is_only = n_resources == 1, is_apart = task->testbed->plan.apart;
    script->request.resource = resource;
    int r = take_lock(script, err);
    if (r != LB_OK)
        return r;
    if (is_only)
        lb_task_note(task, "holds from here");
    else
        lb_task_note(task, "holds r%u from here", resource);
    lb_task_tell_hold(task);
    task->has_it = true;
    r = lb_session_pass(&task->session, LB_STEP_ENTER, err);
    if (r >= 0)
        r = renew(script, NULL, err);
    if (is_apart)
        return r;
    if (r == LB_OK && resource + 1 < n_resources) {
        task->op.holds = false;
        r = lock_round(script, resource + 1, err);
        script->request.resource = resource;
        task->op.holds = task->has_it = true;
        r = r < 0 || r == LB_LOST ? r : LB_OK;
    }
    if (r == LB_OK)
        r = insist(script, lb_operate_release, LB_STEP_LEAVE, err);
    if (r == LB_OK && is_only)
        lb_task_note(task, "released");
    else if (r == LB_OK)
        lb_task_note(task, "released r%u", resource);
    task->has_it = task->op.holds = false; /* also after a renewal that was refused */
    return r;
}

static int end_item(struct lb_task *task, struct lb_item *item, enum lb_op which,
                    struct lb_error *err)
{
    const bool is_retried = which == LB_OP_FREE && !lb_strategy_has(task->actor.plan, LB_S_FREE);
    int r = FIRST_TRY;
    while (tries(task, LB_STEP_LEAVE, 1u << LB_REFUSED, &r, err))
        r = is_retried ? lb_operate_retry(&task->op, item, err)
                       : lb_operate_item(&task->op, which, item, err);
    if (r == LB_OK)
        lb_task_note(task,
                     which == LB_OP_FREE    ? "gave back %lld"
                     : which == LB_OP_ERROR ? "failed with %lld"
                                            : "completed %lld",
                     (long long)item->id);
    return r;
}

/* Ends, or prolongs, all items of the batch by one statement. */
static int operate_batch(struct lb_task *task, enum lb_op which, struct lb_batch *batch,
                         struct lb_error *err)
{
    const enum lb_step_kind kind = which == LB_OP_RENEW_ITEM ? LB_STEP_POLL : LB_STEP_LEAVE;
    int r = FIRST_TRY;
    while (tries(task, kind, 1u << LB_REFUSED, &r, err))
        r = lb_operate_batch(&task->op, which, batch, err);
    uint32_t n_done = 0;
    for (uint32_t i = 0; i < batch->n && r == LB_OK; i++)
        n_done += batch->answers[i] == LB_OK;
    if (r == LB_OK)
        lb_task_note(task, "%s %u of %u",
                     which == LB_OP_COMPLETE ? "completed"
                     : which == LB_OP_FREE   ? "gave back"
                     : which == LB_OP_ERROR  ? "failed with"
                                             : "renewed",
                     n_done, batch->n);
    return r;
}

/* The items of a claim. */
struct hand {
    uint32_t n;
    bool is_lost[LB_CLAIM_ROOM]; /* told so by a renewal */
    struct lb_batch batch;       /* of those that are not */
};

static void take_kept(struct lb_task *task, struct hand *hand)
{
    hand->batch.n = 0;
    for (uint32_t i = 0; i < hand->n; i++)
        if (!hand->is_lost[i])
            hand->batch.items[hand->batch.n++] = &task->items[i];
}

static int renew_together(struct lb_task *task, struct hand *hand, struct lb_error *err)
{
    const struct lb_batch *batch = &hand->batch;
    int r = LB_OK;
    for (uint32_t i = 0; i < task->testbed->plan.renewals && r == LB_OK; i++) {
        take_kept(task, hand);
        if (batch->n == 0)
            break;
        r = operate_batch(task, LB_OP_RENEW_ITEM, &hand->batch, err);
        for (uint32_t k = 0; k < batch->n; k++)
            hand->is_lost[batch->items[k] - task->items] = r != LB_OK || batch->answers[k] != LB_OK;
    }
    return r;
}

/* Renews all items of the claim, and completes them or gives them back. An item with a refused
 * renewal is not ended. */
static int end_claim(struct script *script, struct hand *hand, enum lb_op which,
                     struct lb_error *err)
{
    struct lb_task *task = script->task;
    bool together =
        lb_strategy_takes_batch(task->actor.plan, which == LB_OP_FREE    ? LB_S_FREE
                                                  : which == LB_OP_ERROR ? LB_S_ERROR
                                                                         : LB_S_COMPLETE);
    int r = LB_OK;
    if (lb_strategy_takes_batch(task->actor.plan, LB_S_RENEW))
        r = renew_together(task, hand, err);
    for (uint32_t i = 0; i < hand->n && r >= 0 && r != LB_LOST; i++) {
        if (hand->is_lost[i])
            continue;
        r = renew(script, &task->items[i], err);
        hand->is_lost[i] = r != LB_OK;
        if (r == LB_OK && !together)
            r = end_item(task, &task->items[i], which, err);
    }
    if (r < 0 || r == LB_LOST || !together)
        return r;
    take_kept(task, hand);
    return hand->batch.n > 0 ? operate_batch(task, which, &hand->batch, err) : r;
}

/* An operator's section on one class, or on the item that the task had last. */
static int operate(struct lb_task *task, enum lb_op which, struct lb_error *err)
{
    int r = FIRST_TRY;
    while (tries(task, LB_STEP_POLL, 1u << LB_EMPTY | 1u << LB_REFUSED, &r, err)) {
        struct lb_item cleared = {.id = task->items->id}; /* an operator has no token of it */
        r = which == LB_OP_CLEAR_ERROR ? lb_operate_item(&task->op, which, &cleared, err)
                                       : lb_operate_class(&task->op, which, err);
    }
    if (r == LB_OK)
        lb_task_note(task, which == LB_OP_CLEAR_ERROR ? "has cleared one error"
                           : which == LB_OP_CLEAR_ALL ? "has cleared all errors"
                                                      : "has reset what is done");
    return r;
}

/* The items from `first` on were given to it. */
static void note_items(struct lb_task *task, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++)
        task->told = lb_mix(task->told, (uint64_t)task->items[i].id);
}

/* A claim that takes one item at a time, or is to take one (again), is made once for each item of
 * the batch, up to the first one without an item. Returns LB_OK, also if that one was refused; an
 * error; or LB_LOST. */
static int claim_more(struct lb_task *task, struct hand *hand, struct lb_error *err)
{
    const struct lb_strategy_plan *plan = task->actor.plan;
    int r = LB_OK;
    if (plan->program == NULL || plan->program->sections[LB_S_CLAIM].tx == LB_TX_HOLD ||
        (!task->testbed->plan.again &&
         lb_section_has_param(&plan->program->sections[LB_S_CLAIM], LB_SLOT_N)))
        return LB_OK;
    for (uint32_t n = 1; hand->n < task->testbed->plan.batch && r == LB_OK && n > 0;) {
        n = 0;
        r = begin_try(task, LB_STEP_POLL, err);
        if (r == LB_OK)
            r = lb_operate_claim(&task->op, 1, task->items + hand->n, LB_CLAIM_ROOM - hand->n, &n,
                                 err);
        if (r == LB_OK && n > 0)
            lb_task_note(task, "claimed %lld as well", (long long)task->items[hand->n].id);
        note_items(task, hand->n, r == LB_OK ? n : 0);
        hand->n += r == LB_OK ? n : 0;
    }
    return r < 0 || r == LB_LOST ? r : LB_OK;
}

/* Works on the items in hand, and ends them. */
static int end_hand(struct script *script, struct hand *hand, enum lb_op which,
                    struct lb_error *err)
{
    struct lb_task *task = script->task;
    const struct lb_strategy_plan *plan = task->actor.plan;
    bool has_batch =
        lb_strategy_takes_batch(plan, LB_S_COMPLETE) || lb_strategy_takes_batch(plan, LB_S_FREE) ||
        lb_strategy_takes_batch(plan, LB_S_ERROR) || lb_strategy_takes_batch(plan, LB_S_RENEW);
    int r = has_batch ? lb_batch_init(&hand->batch, hand->n, err) : LB_OK;
    if (r != LB_OK)
        return r;
    r = lb_session_pass(&task->session, LB_STEP_ENTER, err);
    if (r >= 0 && task->testbed->plan.errors && which == LB_OP_COMPLETE &&
        task->role == LB_ROLE_WORKER && lb_strategy_has(plan, LB_S_CLEAR_ERROR)) { /* no error */
        r = operate(task, LB_OP_CLEAR_ERROR, err);
        r = r == LB_REFUSED || r == LB_EMPTY ? LB_OK : r;
    }
    if (r >= 0)
        r = end_claim(script, hand, which, err);
    if (has_batch)
        lb_batch_release(&hand->batch);
    return r;
}

/* One try: there is no other worker that would let it have an item later. */
static int late_round(struct script *script, struct lb_error *err)
{
    struct lb_task *task = script->task;
    struct hand hand = {.n = 0};
    task->n_refusals = 0;
    int r = begin_try(task, LB_STEP_POLL, err);
    if (r == LB_OK)
        r = lb_operate_claim(&task->op, 1, task->items, LB_CLAIM_ROOM, &hand.n, err);
    task->has_tried = true;
    if (r != LB_OK || hand.n == 0)
        return r < 0 ? r : LB_OK;
    note_items(task, 0, hand.n);
    lb_task_note(task, "claimed %lld", (long long)task->items[0].id);
    task->has_it = true;
    r = end_hand(script, &hand, LB_OP_COMPLETE, err);
    task->has_it = false;
    return r;
}

static int queue_round(struct script *script, enum lb_op which, struct lb_error *err)
{
    struct lb_task *task = script->task;
    const struct lb_explore_plan *explored = &task->testbed->plan;
    struct hand hand = {.n = 0};
    int r = FIRST_TRY;
    while (tries(task, LB_STEP_POLL, 0, &r, err)) {
        uint64_t n_parted = task->actor.runner.n_parted;
        r = lb_operate_claim(&task->op, explored->again ? 1 : explored->batch, task->items,
                             LB_CLAIM_ROOM, &hand.n, err);
        if (task->actor.runner.n_parted != n_parted) /* its lease begins: see judge.c */
            task->testbed->outlived = false;
    }
    if (r != LB_OK)
        return r;
    note_items(task, 0, hand.n);
    lb_task_note(task, hand.n == 1 ? "claimed %lld" : "claimed %lld and others",
                 (long long)task->items[0].id);
    task->has_it = true;
    r = claim_more(task, &hand, err);
    if (r == LB_OK)
        r = end_hand(script, &hand, which, err);
    task->has_it = false;
    return r;
}

static int put_round(struct lb_task *task, uint32_t round, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &task->testbed->plan;
    int64_t id = (int64_t)plan->items + 1 + (task->number - plan->workers) * plan->rounds + round;
    const bool may_refuse = lb_strategy_refuses(task->actor.plan, LB_DUPLICATE);
    int r = FIRST_TRY;
    while (tries(task, LB_STEP_POLL, may_refuse ? 1u << LB_DUPLICATE : 0, &r, err))
        r = lb_testbed_put(&task->op, id, err);
    if (!lb_strategy_refuses(task->actor.plan, r))
        return r;
    lb_task_note(task, "is not put: its unique key is taken");
    return LB_OK;
}

/* A rescuer that finds nothing to recover has done its round. */
static int rescue_round(struct lb_task *task, struct lb_error *err)
{
    int r = FIRST_TRY;
    while (tries(task, LB_STEP_POLL, 1u << LB_EMPTY | 1u << LB_REFUSED, &r, err))
        r = lb_operate_class(&task->op, LB_OP_RECOVER, err);
    if (r == LB_OK)
        lb_task_note(task, "has recovered");
    return r;
}

/* Locks the rows of all tables, and releases them. A blocker that is refused, or ended by a
 * deadlock, has done its round. */
static int block_round(struct lb_task *task, struct lb_error *err)
{
    struct lb_testbed *testbed = task->testbed;
    struct lb_session *session = &task->session;
    int r = lb_task_begin_try(task, LB_STEP_POLL, err);
    if (r >= 0)
        r = lb_session_begin(session, LB_BEGIN_DEFERRED, err);
    for (size_t i = 0; i < testbed->tables.n && r == LB_OK; i++) {
        struct lb_step step = {
            .kind = LB_STEP_EXECUTE, .section = "blocker", .sql = testbed->locking[i]};
        struct lb_rows rows;
        r = lb_session_execute(session, &task->locking[i], &step, step.sql, &rows, err);
        if (r == LB_OK)
            lb_task_note(task, "locks rows, changes none");
    }
    if (r == LB_OTHER)
        return lb_fail(err, LB_E_ENV, "a blocker cannot lock rows: %s", session->message);
    return r < 0 || r == LB_LOST ? r : lb_session_rollback(session, err);
}

/* One error, and in the next round all; of another worker the other way round. The first of three
 * rounds or more leaves its error there; in the last round there is none to be cleared. */
static int clear(struct lb_task *task, uint32_t round, struct lb_error *err)
{
    const struct lb_strategy_plan *plan = task->actor.plan;
    const uint32_t n_rounds = task->testbed->rounds;
    bool has_all = lb_strategy_has(plan, LB_S_CLEAR_ALL_ERRORS);
    bool has_one = lb_strategy_has(plan, LB_S_CLEAR_ERROR) && lb_strategy_has(plan, LB_S_ERROR);
    if (n_rounds > 2 && round == task->testbed->plan.frees)
        return LB_OK;
    bool all = has_all && (!has_one || (round + task->number) % 2 != 0) && round + 1 < n_rounds;
    return n_rounds > 1 && (all || has_one)
               ? operate(task, all ? LB_OP_CLEAR_ALL : LB_OP_CLEAR_ERROR, err)
               : LB_OK;
}

/* At the end of all rounds: done items are reset. Without a section error all errors are cleared
 * here, too. */
static int operate_at_end(struct lb_task *task, struct lb_error *err)
{
    const struct lb_strategy_plan *plan = task->actor.plan;
    const bool fails = lb_strategy_has(plan, LB_S_ERROR);
    int r = LB_OK;
    if (task->role != LB_ROLE_WORKER || !task->testbed->plan.errors ||
        (fails && task->testbed->rounds < 2))
        return r;
    if (!fails && lb_strategy_has(plan, LB_S_CLEAR_ALL_ERRORS))
        r = operate(task, LB_OP_CLEAR_ALL, err);
    if (r >= 0 && r != LB_LOST && lb_strategy_has(plan, LB_S_RESET_ALL))
        r = operate(task, LB_OP_RESET_ALL, err);
    return r;
}

static int play_round(struct script *script, uint32_t round, struct lb_error *err)
{
    struct lb_task *task = script->task;
    uint32_t n_resources = task->actor.plan->n_resources;
    bool ends;
    int r;
    switch (task->role) {
    case LB_ROLE_PUTTER:
        return put_round(task, round, err);
    case LB_ROLE_RESCUER:
        return rescue_round(task, err);
    case LB_ROLE_BLOCKER:
        return block_round(task, err);
    case LB_ROLE_LATE:
        return round == 0 ? late_round(script, err) : LB_OK;
    case LB_ROLE_WORKER:
    default:
        ends = round + 1 == task->testbed->rounds;
        script->gives_up = task->testbed->plan.cancels && (round == 0 || !ends);
        if (task->actor.plan->strategy->shape == LB_LOCK)
            return lock_round(script, task->testbed->plan.apart ? task->number % n_resources : 0,
                              err);
        if (round < task->testbed->plan.frees)
            return queue_round(script, LB_OP_FREE, err);
        if (!task->testbed->plan.errors)
            return queue_round(script, LB_OP_COMPLETE, err);
        ends = (ends && round > 0) || !lb_strategy_has(task->actor.plan, LB_S_ERROR);
        r = queue_round(script, ends ? LB_OP_COMPLETE : LB_OP_ERROR, err);
        return r == LB_OK ? clear(task, round, err) : r;
    }
}

/* Goes on without an answer, on a new connection and under a new name, as a run's workers do. */
static int take_new_session(struct lb_task *task, struct lb_error *err)
{
    task->is_lost = false;
    task->n_user_locks = 0;
    task->op.holds = task->op.continued = task->has_it = false;
    lb_note_append(&task->log, task->number, LB_OP_SESSION_END, 0, task->number, 0);
    snprintf(task->actor.name, sizeof task->actor.name, "w%ub", task->number);
    int r = lb_session_reconnect(&task->session, err);
    if (r == 0)
        r = lb_testbed_begin_session(task->testbed, task, err);
    return r == 0 ? task->actor.plan->strategy->flow->open(&task->actor, err) : r;
}

int lb_task_script(struct lb_task *task, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &task->testbed->plan;
    const struct lb_strategy_plan *strategy_plan = task->actor.plan;
    struct script script = {.task = task};
    script.request.shared = task->number >= plan->workers - plan->readers;
    script.request.capacity = plan->capacity;
    snprintf(task->actor.name, sizeof task->actor.name, "w%u", task->number);
    /* A program was opened before the schedule. */
    int r = lb_testbed_has_programs(task->testbed)
                ? LB_OK
                : strategy_plan->strategy->flow->open(&task->actor, err);
    snprintf(task->actor.process, sizeof task->actor.process, "p%u", task->number);
    snprintf(task->actor.host, sizeof task->actor.host, "h0");
    if (r == LB_OK)
        r = begin_process(task, err);
    for (uint32_t round = 0; round < task->testbed->rounds && r >= 0 && r != LB_LOST;) {
        r = play_round(&script, round, err);
        if (r == LB_LOST && task->is_lost) /* which round that was, it does not know: once more */
            r = take_new_session(task, err);
        else
            round++;
    }
    if (r >= 0 && r != LB_LOST)
        r = operate_at_end(task, err);
    if (r >= 0 && r != LB_LOST && (task->role == LB_ROLE_WORKER || task->role == LB_ROLE_LATE) &&
        strategy_plan->program != NULL && lb_strategy_has(strategy_plan, LB_S_UNREGISTER))
        r = live(task, SIGNS_OFF, err);
    return r < 0 ? r : 0;
}
