/* What a player does from its first step to its last: the rounds that were asked for, each attempt
 * through the recorded operations that runs use too.
 *
 * An operation that was refused is tried again; the search lets it as soon as the answer could be
 * another one. One that keeps changing something without getting anywhere is given up after `polls`
 * refusals, and the result says so.
 */
#include "stage.h"

#include "note.h"

#include <string.h>

struct script {
    struct lb_player *player;
    struct lb_request request;
    struct lb_grant grant;
};

/* The gate before a try; LB_TIMEOUT when there have been too many. */
static int begin_try(struct lb_player *player, enum lb_step_kind kind, struct lb_error *err)
{
    int r = lb_player_begin_try(player, kind, err);
    if (r < 0 || player->n_refusals < player->stage->plan.polls)
        return r;
    player->gave_up = true;
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
        digest = (digest ^ of_value) * UINT64_C(0x100000001b3);
    }
    return digest;
}

typedef int lb_lock_operation(struct lb_operator *op, const struct lb_request *request,
                              struct lb_grant *grant, struct lb_error *err);

/* Until it is not refused any more. */
static int insist(struct script *script, lb_lock_operation *operate, enum lb_step_kind kind,
                  struct lb_error *err)
{
    struct lb_player *player = script->player;
    bool is_release = kind == LB_STEP_LEAVE;
    const struct lb_strategy_plan *plan = player->actor.plan;
    bool remembers = operate == lb_operate_acquire && lb_strategy_has(plan, LB_S_ENQUEUE);
    player->n_refusals = 0;
    player->has_seen = player->saw_it_outlived = false;
    for (;;) {
        int r = begin_try(player, kind, err);
        if (r != 0)
            return r;
        uint64_t memory = remembers ? digest_of_memory(&script->grant.bag) : 0;
        r = operate(&player->op, &script->request, &script->grant, err);
        if (is_release && r == LB_REFUSED)
            return r;
        bool learned = remembers && digest_of_memory(&script->grant.bag) != memory;
        if (!lb_player_retries(player, r, learned))
            return r;
        player->op.holds = is_release;
    }
}

enum life { SWEEPS, ENROLLS, BEATS };

/* What its process does: before its first claim, or to say that it is alive. */
static int live(struct lb_player *player, enum life what, struct lb_error *err)
{
    int r;
    player->n_refusals = 0;
    do {
        r = begin_try(player, LB_STEP_POLL, err);
        if (r != 0)
            return r;
        r = what == SWEEPS ? lb_operate_sweep(&player->op, err)
                           : lb_operate_beat(&player->op, what == ENROLLS, player->number, err);
    } while (r != LB_REFUSED && lb_player_retries(player, r, false));
    if (r == LB_OK)
        lb_player_note(player, what == SWEEPS    ? "its process has swept"
                               : what == ENROLLS ? "its process is registered"
                                                 : "its process is alive");
    return r;
}

/* LB_REFUSED: nobody knows of its process any more; it registers again, and goes on. */
static int beat(struct lb_player *player, struct lb_error *err)
{
    int r = live(player, BEATS, err);
    if (r == LB_REFUSED && lb_strategy_has(player->actor.plan, LB_S_REGISTER))
        r = live(player, ENROLLS, err);
    return r == LB_REFUSED ? LB_OK : r;
}

static int begin_process(struct lb_player *player, struct lb_error *err)
{
    const struct lb_strategy_plan *plan = player->actor.plan;
    int r = LB_OK;
    if (player->role != LB_ROLE_WORKER || plan->program == NULL)
        return r;
    if (lb_strategy_has(plan, LB_S_SWEEP))
        r = live(player, SWEEPS, err);
    if (r >= LB_OK && r != LB_LOST && lb_strategy_has(plan, LB_S_REGISTER))
        r = live(player, ENROLLS, err);
    else if (r >= LB_OK && r != LB_LOST && lb_strategy_has(plan, LB_S_HEARTBEAT))
        r = beat(player, err);
    return r;
}

/* Heartbeats. LB_REFUSED: it is told that it has it no longer. */
static int renew(struct script *script, struct lb_item *item, struct lb_error *err)
{
    struct lb_player *player = script->player;
    int r = LB_OK;
    if (item != NULL && lb_strategy_has(player->actor.plan, LB_S_HEARTBEAT))
        for (uint32_t i = 0; i < player->stage->plan.renewals && r == LB_OK; i++)
            r = beat(player, err);
    if (!lb_strategy_has(player->actor.plan, LB_S_RENEW))
        return r;
    for (uint32_t i = 0; i < player->stage->plan.renewals && r == LB_OK; i++) {
        player->n_refusals = 0;
        do {
            r = begin_try(player, LB_STEP_POLL, err);
            if (r != 0)
                return r;
            r = item != NULL ? lb_operate_item(&player->op, LB_OP_RENEW_ITEM, item, err)
                             : lb_operate_renew(&player->op, &script->request, &script->grant, err);
        } while (r != LB_REFUSED && lb_player_retries(player, r, false));
        lb_player_note(player, r == LB_OK ? "renewed" : "told that it is over");
    }
    return r;
}

static int lock_round(struct script *script, struct lb_error *err)
{
    struct lb_player *player = script->player;
    const struct lb_strategy_plan *plan = player->actor.plan;
    int r = LB_OK;
    if (plan->strategy->flow->enqueue != NULL && lb_strategy_has(plan, LB_S_ENQUEUE))
        r = insist(script, lb_operate_enqueue, LB_STEP_POLL, err);
    if (r != LB_OK)
        return r;
    r = insist(script, lb_operate_acquire, LB_STEP_POLL, err);
    if (r == LB_TIMEOUT && plan->strategy->flow->cancel != NULL &&
        lb_strategy_has(plan, LB_S_CANCEL)) {
        int cancelled = lb_player_begin_try(player, LB_STEP_POLL, err);
        if (cancelled >= 0)
            cancelled = lb_operate_cancel(&player->op, &script->request, &script->grant, err);
        return cancelled < 0 ? cancelled : r;
    }
    if (r != LB_OK)
        return r;
    lb_player_note(player, "holds from here");
    r = lb_session_pass(&player->session, LB_STEP_ENTER, err);
    if (r >= 0)
        r = renew(script, NULL, err);
    if (r == LB_OK)
        r = insist(script, lb_operate_release, LB_STEP_LEAVE, err);
    if (r == LB_OK)
        lb_player_note(player, "released");
    return r;
}

static int end_item(struct lb_player *player, struct lb_item *item, struct lb_error *err)
{
    int r;
    player->n_refusals = 0;
    do {
        r = begin_try(player, LB_STEP_LEAVE, err);
        if (r != 0)
            return r;
        r = lb_operate_item(&player->op, LB_OP_COMPLETE, item, err);
    } while (r != LB_REFUSED && lb_player_retries(player, r, false));
    if (r == LB_OK)
        lb_player_note(player, "completed %lld", (long long)item->id);
    return r;
}

/* All items of the claim at once. */
static int end_batch(struct lb_player *player, uint32_t n, struct lb_error *err)
{
    struct lb_batch batch;
    int r = lb_batch_init(&batch, n, err);
    if (r != 0)
        return r;
    for (; batch.n < n; batch.n++)
        batch.items[batch.n] = &player->items[batch.n];
    player->n_refusals = 0;
    do {
        r = begin_try(player, LB_STEP_LEAVE, err);
        if (r == 0)
            r = lb_operate_batch(&player->op, LB_OP_COMPLETE, &batch, err);
        else
            break;
    } while (r != LB_REFUSED && lb_player_retries(player, r, false));
    if (r == LB_OK) {
        uint32_t n_done = 0;
        for (uint32_t i = 0; i < n; i++)
            n_done += batch.answers[i] == LB_OK;
        lb_player_note(player, "completed %u of %u", n_done, n);
    }
    lb_batch_release(&batch);
    return r;
}

static int queue_round(struct script *script, struct lb_error *err)
{
    struct lb_player *player = script->player;
    uint32_t n = 0;
    int r;
    player->n_refusals = 0;
    do {
        r = begin_try(player, LB_STEP_POLL, err);
        if (r != 0)
            return r;
        r = lb_operate_claim(&player->op, player->stage->plan.batch, player->items, LB_CLAIM_ROOM,
                             &n, err);
    } while (lb_player_retries(player, r, false));
    if (r != LB_OK)
        return r;
    lb_player_note(player, n == 1 ? "claimed %lld" : "claimed %lld and others",
                   (long long)player->items[0].id);
    r = lb_session_pass(&player->session, LB_STEP_ENTER, err);
    bool together = lb_strategy_ends_batch(player->actor.plan, LB_S_COMPLETE);
    for (uint32_t i = 0; i < n && r >= 0; i++) {
        r = renew(script, &player->items[i], err);
        if (r == LB_OK && !together)
            r = end_item(player, &player->items[i], err);
    }
    return r >= 0 && together ? end_batch(player, n, err) : r;
}

static int put_round(struct lb_player *player, uint32_t round, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &player->stage->plan;
    int64_t id = (int64_t)plan->items + 1 + (player->number - plan->workers) * plan->rounds + round;
    int r;
    player->n_refusals = 0;
    do {
        r = begin_try(player, LB_STEP_POLL, err);
        if (r != 0)
            return r;
        r = lb_operate_put(&player->op, id, 1, "x", err);
    } while (lb_player_retries(player, r, false));
    return r;
}

/* Whoever finds nothing to recover has done its round. */
static int rescue_round(struct lb_player *player, struct lb_error *err)
{
    int r;
    player->n_refusals = 0;
    do {
        r = begin_try(player, LB_STEP_POLL, err);
        if (r != 0)
            return r;
        r = lb_operate_class(&player->op, LB_OP_RECOVER, err);
    } while (r != LB_EMPTY && r != LB_REFUSED && lb_player_retries(player, r, false));
    if (r == LB_OK)
        lb_player_note(player, "has recovered");
    return r;
}

/* Locks the rows of all tables, and lets them go. Whoever is refused, or ended by a deadlock, has
 * done its round. */
static int block_round(struct lb_player *player, struct lb_error *err)
{
    struct lb_stage *stage = player->stage;
    struct lb_session *session = &player->session;
    int r = lb_player_begin_try(player, LB_STEP_POLL, err);
    if (r >= 0)
        r = lb_session_begin(session, LB_BEGIN_DEFERRED, err);
    for (size_t i = 0; i < stage->tables.n && r == LB_OK; i++) {
        struct lb_step step = {
            .kind = LB_STEP_EXECUTE, .section = "blocker", .sql = stage->locking[i]};
        struct lb_rows rows;
        r = lb_session_execute(session, &player->locking[i], &step, step.sql, &rows, err);
        if (r == LB_OK)
            lb_player_note(player, "locks rows, changes none");
    }
    if (r == LB_OTHER)
        return lb_fail(err, LB_E_ENV, "a blocker cannot lock rows: %s", session->message);
    return r < 0 || r == LB_LOST ? r : lb_session_rollback(session, err);
}

static int play_round(struct script *script, uint32_t round, struct lb_error *err)
{
    struct lb_player *player = script->player;
    switch (player->role) {
    case LB_ROLE_PUTTER:
        return put_round(player, round, err);
    case LB_ROLE_RESCUER:
        return rescue_round(player, err);
    case LB_ROLE_BLOCKER:
        return block_round(player, err);
    case LB_ROLE_WORKER:
    default:
        return player->actor.plan->strategy->shape == LB_LOCK ? lock_round(script, err)
                                                              : queue_round(script, err);
    }
}

/* Goes on without an answer, on a new connection and under a new name, as a run's workers do. */
static int take_new_session(struct lb_player *player, struct lb_error *err)
{
    player->is_lost = false;
    player->op.holds = player->op.continued = false;
    lb_note_append(&player->log, player->number, LB_OP_SESSION_END, 0, player->number, 0);
    snprintf(player->actor.name, sizeof player->actor.name, "w%ub", player->number);
    int r = lb_session_reconnect(&player->session, err);
    if (r == 0)
        r = lb_stage_begin_session(player->stage, player, err);
    return r == 0 ? player->actor.plan->strategy->flow->open(&player->actor, err) : r;
}

int lb_player_script(struct lb_player *player, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &player->stage->plan;
    const struct lb_strategy_plan *strategy_plan = player->actor.plan;
    struct script script = {.player = player};
    player->memory = &script.grant.bag;
    script.request.shared = player->number >= plan->workers - plan->readers;
    script.request.capacity = plan->capacity;
    snprintf(player->actor.name, sizeof player->actor.name, "w%u", player->number);
    /* A program was opened before the schedule. */
    int r = lb_stage_has_programs(player->stage)
                ? LB_OK
                : strategy_plan->strategy->flow->open(&player->actor, err);
    snprintf(player->actor.process, sizeof player->actor.process, "p%u", player->number);
    snprintf(player->actor.host, sizeof player->actor.host, "h0");
    if (r == LB_OK)
        r = begin_process(player, err);
    for (uint32_t round = 0; round < player->stage->rounds && r >= 0 && r != LB_LOST;) {
        r = play_round(&script, round, err);
        if (r == LB_LOST && player->is_lost) /* which round that was, it does not know: once more */
            r = take_new_session(player, err);
        else
            round++;
    }
    player->memory = NULL;
    return r < 0 ? r : 0;
}
