/* Operations with times, events and counts: see operation.h. */
#include "operation.h"

#include <assert.h>

/* Appends one event of the operator; a history that cannot be written is remembered, not fatal
 * here: the run ends with it. */
static inline void append(struct lb_operator *op, const struct lb_event *event)
{
    if (op->log != NULL && lb_log_append(op->log, event) != 0)
        op->log_error = op->log->failed;
}

static inline void invoke(struct lb_operator *op, enum lb_op which, uint32_t object, uint64_t value,
                          uint32_t arg, uint8_t flags)
{
    op->start_ns = op->continued ? op->end_ns : lb_now_ns();
    op->continued = false;
    op->last = which;
    append(op, &(struct lb_event){.time_ns = op->start_ns,
                                  .value = value,
                                  .process = op->process,
                                  .object = object,
                                  .arg = arg,
                                  .op = (uint8_t)which,
                                  .flags = flags,
                                  .type = LB_EV_INVOKE});
}

static inline bool take(struct lb_operator *op, enum lb_op which)
{
    return op->lender == NULL || op->lender->take(op->lender_arg, which);
}

static inline enum lb_event_type type_of(int answer, bool is_unknown)
{
    return answer == LB_OK ? LB_EV_OK : is_unknown ? LB_EV_INFO : LB_EV_FAIL;
}

/* Records the end of an attempt, and counts it if it is measured. A negative answer is an error:
 * the statement was rejected, so the operation did not happen. */
static inline void end(struct lb_operator *op, enum lb_measure measure, bool measured,
                       struct lb_event *event, int answer, enum lb_event_type type)
{
    event->time_ns = op->end_ns;
    event->process = op->process;
    event->type = (uint8_t)type;
    event->answer = (uint8_t)(answer < 0 ? LB_OTHER : answer);
    append(op, event);
    if (measured) {
        op->counts[measure].attempts++;
        op->counts[measure].answers[event->answer]++;
    }
}

/* The same, and retires the process when the outcome is unknown. */
static inline int finish_as(struct lb_operator *op, enum lb_measure measure, struct lb_event *event,
                            int answer, enum lb_event_type type)
{
    end(op, measure, op->measured, event, answer, type);
    if (type == LB_EV_INFO)
        op->process += op->n_processes;
    if (op->lender != NULL)
        op->lender->give(op->lender_arg, (enum lb_op)event->op, answer);
    return answer;
}

/* An answer below 0: the operation was given up, perhaps between two commits. */
static bool leaves_unknown(int answer)
{
    return answer == LB_LOST || answer < 0;
}

static inline int finish(struct lb_operator *op, enum lb_measure measure, struct lb_event *event,
                         int answer)
{
    return finish_as(op, measure, event, answer, type_of(answer, leaves_unknown(answer)));
}

/* The same of an operation of a section that may have committed a part of its changes before it was
 * refused: n_halves is that of the runner before it. */
static int finish_parts(struct lb_operator *op, struct lb_event *event, int answer,
                        uint64_t n_halves)
{
    if (answer > LB_OK && op->actor->runner.n_halves > n_halves)
        return finish_as(op, LB_M_RELEASE, event, answer, LB_EV_INFO);
    return finish(op, LB_M_RELEASE, event, answer);
}

static inline uint8_t mode_flag(const struct lb_request *request)
{
    return request->shared ? LB_EVF_SHARED : 0;
}

/* Was what was granted committed, so that it does not end with the session? */
static inline uint8_t last_flag(const struct lb_operator *op)
{
    const struct lb_session *session = op->actor->session;
    return op->may_last && session != NULL && !session->in_tx ? LB_EVF_COMMITTED : 0;
}

static inline uint8_t token_flag(const struct lb_grant *grant)
{
    return grant->has_token ? LB_EVF_TOKEN : 0;
}

/* Does a program lack this operation? Files say so before the run. */
static bool lacks(const struct lb_strategy_plan *plan, enum lb_section_name section)
{
    return plan->program == NULL && !lb_strategy_has(plan, section);
}

/* Asks the strategy, with a session if one is lent, and notes when it had answered. */
static inline int ask_lock(struct lb_operator *op, enum lb_op which, enum lb_section_name section,
                           const struct lb_request *request, struct lb_grant *grant,
                           struct lb_error *err)
{
    const struct lb_flow *flow = op->actor->plan->strategy->flow;
    int answer = take(op, which) ? flow->lock(op->actor, section, request, grant, err) : LB_TIMEOUT;
    op->end_ns = lb_now_ns();
    return answer;
}

int lb_operate_enqueue(struct lb_operator *op, const struct lb_request *request,
                       struct lb_grant *grant, struct lb_error *err)
{
    assert(!op->holds);
    grant->has_ticket = false;
    invoke(op, LB_OP_ENQUEUE, request->resource, 0, 0, mode_flag(request));
    int answer = ask_lock(op, LB_OP_ENQUEUE, LB_S_ENQUEUE, request, grant, err);
    struct lb_event event = {
        .op = LB_OP_ENQUEUE,
        .object = request->resource,
        .value = (uint64_t)(grant->has_ticket ? grant->ticket : 0),
        .flags = (uint8_t)(mode_flag(request) | (grant->has_ticket ? LB_EVF_TOKEN : 0))};
    return finish(op, LB_M_ENQUEUE, &event, answer);
}

/* A grant that was made after its lease had been counted: the wait belongs into the history. */
static void note_wait(struct lb_operator *op, uint32_t resource)
{
    uint64_t waited_ns = op->waited_ns != NULL ? atomic_load(op->waited_ns) : 0;
    if (waited_ns <= op->start_ns || waited_ns > op->end_ns)
        return;
    append(op, &(struct lb_event){.time_ns = waited_ns,
                                  .process = op->process,
                                  .object = resource,
                                  .op = LB_OP_WAITED,
                                  .type = LB_EV_NOTE});
}

int lb_operate_acquire(struct lb_operator *op, const struct lb_request *request,
                       struct lb_grant *grant, struct lb_error *err)
{
    assert(!op->holds);
    grant->has_token = grant->is_over = false;
    invoke(op, LB_OP_ACQUIRE, request->resource, 0, 1, mode_flag(request));
    int answer = ask_lock(op, LB_OP_ACQUIRE, LB_S_ACQUIRE, request, grant, err);
    op->holds = answer == LB_OK;
    if (op->holds)
        note_wait(op, request->resource);
    struct lb_event event = {.op = LB_OP_ACQUIRE,
                             .object = request->resource,
                             .value = (uint64_t)(grant->has_token ? grant->token : 0),
                             .arg = op->lease_ms,
                             .flags = (uint8_t)(mode_flag(request) | token_flag(grant) |
                                                (grant->is_over ? LB_EVF_OVER : 0) |
                                                (answer == LB_OK ? last_flag(op) : 0))};
    return finish(op, LB_M_ACQUIRE, &event, answer);
}

int lb_operate_renew(struct lb_operator *op, const struct lb_request *request,
                     struct lb_grant *grant, struct lb_error *err)
{
    assert(op->holds);
    if (lacks(op->actor->plan, LB_S_RENEW))
        return lb_fail(err, LB_E_UNSUPPORTED, "strategy %s has no renew",
                       op->actor->plan->strategy->name);
    uint64_t token = (uint64_t)(grant->has_token ? grant->token : 0);
    invoke(op, LB_OP_RENEW, request->resource, token, op->lease_ms, mode_flag(request));
    int answer = ask_lock(op, LB_OP_RENEW, LB_S_RENEW, request, grant, err);
    struct lb_event event = {.op = LB_OP_RENEW,
                             .object = request->resource,
                             .value = token,
                             .arg = op->lease_ms,
                             .flags = (uint8_t)(mode_flag(request) | token_flag(grant))};
    return finish(op, LB_M_RELEASE, &event, answer);
}

int lb_operate_release(struct lb_operator *op, const struct lb_request *request,
                       struct lb_grant *grant, struct lb_error *err)
{
    assert(op->holds);
    op->holds = false;
    grant->effective = false;
    uint64_t token = (uint64_t)(grant->has_token ? grant->token : 0);
    uint8_t flags = (uint8_t)(mode_flag(request) | token_flag(grant));
    invoke(op, LB_OP_RELEASE, request->resource, token, 1, flags);
    int answer = ask_lock(op, LB_OP_RELEASE, LB_S_RELEASE, request, grant, err);
    struct lb_event event = {.op = LB_OP_RELEASE,
                             .object = request->resource,
                             .value = token,
                             .arg = 1,
                             .flags = (uint8_t)(flags | (grant->effective ? LB_EVF_EFFECTIVE : 0))};
    return finish(op, LB_M_RELEASE, &event, answer);
}

int lb_operate_cancel(struct lb_operator *op, const struct lb_request *request,
                      struct lb_grant *grant, struct lb_error *err)
{
    assert(!op->holds);
    if (!lb_strategy_has(op->actor->plan, LB_S_CANCEL))
        return LB_OK;
    invoke(op, LB_OP_CANCEL, request->resource, 0, 0, mode_flag(request));
    int answer = ask_lock(op, LB_OP_CANCEL, LB_S_CANCEL, request, grant, err);
    struct lb_event event = {
        .op = LB_OP_CANCEL, .object = request->resource, .flags = mode_flag(request)};
    return finish(op, LB_M_RELEASE, &event, answer);
}

/* Before the request: whatever happens to the item, its attributes are known. */
static void note_attributes(struct lb_operator *op, int64_t first, uint32_t n)
{
    const struct lb_strategy_plan *plan = op->actor->plan;
    const struct lb_attribute_source *source = plan->attributes;
    const struct lb_program *stated = lb_strategy_stated(plan);
    if (source == NULL || op->log == NULL)
        return;
    uint64_t now_ns = op->continued ? op->end_ns : lb_now_ns();
    for (uint32_t i = 0; i < n; i++)
        for (int a = 0; a < LB_ATTRIBUTES; a++)
            if ((stated->attributes >> a & 1) != 0)
                append(op, &(struct lb_event){
                               .time_ns = now_ns,
                               .value = (uint64_t)first + i,
                               .process = op->process,
                               .object = (uint32_t)a,
                               .arg = source->value_of(source, (enum lb_attribute)a, first + i),
                               .op = LB_OP_ATTRIBUTE,
                               .type = LB_EV_NOTE});
}

int lb_operate_put(struct lb_operator *op, int64_t first, uint32_t n, const char *payload,
                   struct lb_error *err)
{
    note_attributes(op, first, n);
    invoke(op, LB_OP_PUT, 0, (uint64_t)first, n, 0);
    const struct lb_flow *flow = op->actor->plan->strategy->flow;
    int answer = take(op, LB_OP_PUT) ? flow->put(op->actor, first, n, payload, err) : LB_TIMEOUT;
    op->end_ns = lb_now_ns();
    struct lb_event event = {.op = LB_OP_PUT, .value = (uint64_t)first, .arg = n};
    return finish(op, LB_M_PUT, &event, answer);
}

/* What a claim brought. Returns how many items there are. */
static uint32_t note_items(struct lb_operator *op, const struct lb_item *items, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        append(op, &(struct lb_event){.time_ns = op->end_ns,
                                      .value = (uint64_t)items[i].id,
                                      .process = op->process,
                                      .arg = op->lease_ms,
                                      .op = LB_OP_ITEM,
                                      .flags = last_flag(op),
                                      .type = LB_EV_NOTE});
    return n;
}

int lb_operate_claim(struct lb_operator *op, uint32_t n, struct lb_item *items, uint32_t max,
                     uint32_t *ret_n, struct lb_error *err)
{
    uint32_t got = 0;
    int64_t marked = 0;
    invoke(op, LB_OP_CLAIM, 0, 0, n, 0);
    const struct lb_flow *flow = op->actor->plan->strategy->flow;
    int answer = take(op, LB_OP_CLAIM) ? flow->claim(op->actor, n, items, max, &got, &marked, err)
                                       : LB_TIMEOUT;
    op->end_ns = lb_now_ns();
    if (answer == LB_OK)
        *ret_n = note_items(op, items, got < max ? got : max);
    struct lb_event event = {.op = LB_OP_CLAIM,
                             .value = answer == LB_OK ? got : 0,
                             .arg = answer == LB_OK ? (uint32_t)marked : n};
    return finish(op, LB_M_ACQUIRE, &event, answer);
}

/* How long a renewal keeps others off. Without a lease, it resets the age that recoveries use. */
static uint32_t renewed_ms(const struct lb_operator *op, enum lb_op which)
{
    if (which != LB_OP_RENEW_ITEM)
        return 0;
    return op->lease_ms > 0 ? op->lease_ms : op->actor->plan->limit_ms;
}

enum lb_section_name lb_operate_section(enum lb_op which)
{
    return which == LB_OP_COMPLETE      ? LB_S_COMPLETE
           : which == LB_OP_ERROR       ? LB_S_ERROR
           : which == LB_OP_FREE        ? LB_S_FREE
           : which == LB_OP_CLEAR_ERROR ? LB_S_CLEAR_ERROR
                                        : LB_S_RENEW;
}

static int operate_item(struct lb_operator *op, enum lb_op which, enum lb_section_name section,
                        struct lb_item *item, struct lb_error *err)
{
    const struct lb_strategy_plan *plan = op->actor->plan;
    if (lacks(plan, section))
        return lb_fail(err, LB_E_UNSUPPORTED, "strategy %s has no %s", plan->strategy->name,
                       lb_op_name((int)which));
    const uint64_t n_halves = op->actor->runner.n_halves;
    invoke(op, which, 0, (uint64_t)item->id, renewed_ms(op, which), 0);
    int answer =
        take(op, which) ? plan->strategy->flow->item(op->actor, section, item, err) : LB_TIMEOUT;
    op->end_ns = lb_now_ns();
    struct lb_event event = {.op = (uint8_t)which,
                             .value = (uint64_t)item->id,
                             .arg = renewed_ms(op, which),
                             .flags = (uint8_t)(answer == LB_OK ? LB_EVF_EFFECTIVE : 0)};
    if (which == LB_OP_CLEAR_ERROR || !lb_strategy_holds_in_tx(plan))
        return finish_parts(op, &event, answer, n_halves);
    /* Contention ends the claim of all its items: they are given back, and changes to them are
     * undone. The history shows it like a lost connection. */
    const struct lb_session *session = op->actor->session; /* NULL: none was lent */
    if (session != NULL && session->in_tx) /* not done before the claim's last item commits it */
        event.flags = 0;
    else if (answer > LB_OK)
        return finish_as(op, LB_M_RELEASE, &event, answer, LB_EV_INFO);
    return finish(op, LB_M_RELEASE, &event, answer);
}

int lb_operate_item(struct lb_operator *op, enum lb_op which, struct lb_item *item,
                    struct lb_error *err)
{
    return operate_item(op, which, lb_operate_section(which), item, err);
}

int lb_operate_retry(struct lb_operator *op, struct lb_item *item, struct lb_error *err)
{
    return operate_item(op, LB_OP_FREE, LB_S_RETRY, item, err);
}

static void invoke_more(struct lb_operator *op, enum lb_op which, int64_t id)
{
    append(op, &(struct lb_event){.time_ns = op->start_ns,
                                  .value = (uint64_t)id,
                                  .process = op->process,
                                  .arg = renewed_ms(op, which),
                                  .op = (uint8_t)which,
                                  .type = LB_EV_INVOKE});
}

/* The end of one item of a batch. true: its outcome is unknown. */
static bool end_one(struct lb_operator *op, enum lb_op which, int64_t id, int answer)
{
    const struct lb_session *session = op->actor->session; /* NULL: none was lent */
    bool is_held = lb_strategy_holds_in_tx(op->actor->plan);
    bool is_open = is_held && session != NULL && session->in_tx;
    /* As for one item: see lb_operate_item. */
    bool unknown = leaves_unknown(answer) || (is_held && !is_open && answer > LB_OK);
    struct lb_event event = {.value = (uint64_t)id,
                             .arg = renewed_ms(op, which),
                             .op = (uint8_t)which,
                             .flags =
                                 (uint8_t)(answer == LB_OK && !is_open ? LB_EVF_EFFECTIVE : 0)};
    end(op, LB_M_RELEASE, op->measured, &event, answer, type_of(answer, unknown));
    return unknown;
}

static void invoke_batch(struct lb_operator *op, enum lb_op which, struct lb_batch *batch)
{
    assert(batch->n > 0);
    batch->n_others = 0;
    invoke(op, which, 0, (uint64_t)batch->items[0]->id, renewed_ms(op, which), 0);
    for (uint32_t i = 1; i < batch->n; i++)
        invoke_more(op, which, batch->items[i]->id);
}

/* Items that the statement reached besides get an invoke, too. */
static void invoke_others(struct lb_operator *op, enum lb_op which, const struct lb_batch *batch)
{
    for (uint32_t i = 0; i < batch->n_others; i++)
        invoke_more(op, which, batch->others[i]);
}

/* is_told: batch->answers has the answer of each; else all were answered alike. true: the outcome
 * of some is unknown. */
static bool end_batch(struct lb_operator *op, enum lb_op which, struct lb_batch *batch, int answer,
                      bool is_told)
{
    bool is_unknown = false;
    for (uint32_t i = 0; i < batch->n; i++) {
        if (!is_told)
            batch->answers[i] = (uint8_t)(answer < 0 ? LB_OTHER : answer);
        is_unknown |= end_one(op, which, batch->items[i]->id, batch->answers[i]);
    }
    for (uint32_t i = 0; i < batch->n_others; i++)
        end_one(op, which, batch->others[i], LB_OK);
    return is_unknown;
}

int lb_operate_batch(struct lb_operator *op, enum lb_op which, struct lb_batch *batch,
                     struct lb_error *err)
{
    const struct lb_flow *flow = op->actor->plan->strategy->flow;
    invoke_batch(op, which, batch);
    bool is_taken = take(op, which);
    int answer =
        is_taken ? flow->batch(op->actor, lb_operate_section(which), batch, err) : LB_TIMEOUT;
    op->end_ns = lb_now_ns();
    invoke_others(op, which, batch);
    if (end_batch(op, which, batch, answer, answer >= 0 && is_taken))
        op->process += op->n_processes;
    if (op->lender != NULL)
        op->lender->give(op->lender_arg, which, answer);
    return answer;
}

/* The end of a pipeline's claim. true: its outcome is unknown. */
static bool end_claim(struct lb_operator *op, const struct lb_pipeline *p, bool measured)
{
    bool ok = p->claim_answer == LB_OK, is_unknown = p->claim_answer == LB_LOST;
    op->last = LB_OP_CLAIM;
    if (ok)
        note_items(op, p->items, p->got < p->max ? p->got : p->max);
    struct lb_event event = {
        .value = ok ? p->got : 0, .arg = ok ? (uint32_t)p->marked : p->n, .op = LB_OP_CLAIM};
    end(op, LB_M_ACQUIRE, measured, &event, p->claim_answer, type_of(p->claim_answer, is_unknown));
    return is_unknown;
}

void lb_operate_pipeline(struct lb_operator *op, enum lb_op which, struct lb_pipeline *p,
                         bool claim_measured)
{
    assert(op->lender == NULL);
    p->section = lb_operate_section(which);
    p->got = 0;
    p->marked = 0;
    if (p->batch != NULL)
        invoke_batch(op, which, p->batch);
    else
        invoke(op, which, 0, (uint64_t)p->item->id, 0, 0);
    append(op, &(struct lb_event){.time_ns = op->start_ns,
                                  .process = op->process,
                                  .arg = p->n,
                                  .op = LB_OP_CLAIM,
                                  .type = LB_EV_INVOKE});
    op->actor->plan->strategy->flow->pipeline(op->actor, p);
    uint64_t claimed_ns = lb_now_ns();
    op->end_ns = p->ended_ns;
    bool is_unknown;
    if (p->batch != NULL) {
        invoke_others(op, which, p->batch);
        is_unknown = end_batch(op, which, p->batch, p->end_answer, p->end_answer >= 0);
    } else {
        is_unknown = end_one(op, which, p->item->id, p->end_answer);
    }
    op->end_ns = claimed_ns;
    is_unknown = end_claim(op, p, claim_measured) || is_unknown;
    if (is_unknown)
        op->process += op->n_processes;
}

static int ask_class(struct lb_operator *op, enum lb_op which, enum lb_section_name section,
                     struct lb_error *err)
{
    const struct lb_flow *flow = op->actor->plan->strategy->flow;
    int answer = take(op, which) ? flow->class(op->actor, section, err) : LB_TIMEOUT;
    op->end_ns = lb_now_ns();
    return answer;
}

/* age_ms: the age of claims that a recovery takes; 0: those of dead workers. */
static int operate_class(struct lb_operator *op, enum lb_op which, enum lb_section_name section,
                         uint32_t age_ms, struct lb_error *err)
{
    const struct lb_strategy_plan *plan = op->actor->plan;
    if (lacks(plan, section))
        return lb_fail(err, LB_E_UNSUPPORTED, "strategy %s has no %s", plan->strategy->name,
                       lb_op_name((int)which));
    const uint64_t n_halves = op->actor->runner.n_halves;
    invoke(op, which, 0, 0, age_ms, 0);
    int answer = ask_class(op, which, section, err);
    struct lb_event event = {.op = (uint8_t)which};
    return finish_parts(op, &event, answer, n_halves);
}

int lb_operate_class(struct lb_operator *op, enum lb_op which, struct lb_error *err)
{
    enum lb_section_name section = which == LB_OP_CLEAR_ALL   ? LB_S_CLEAR_ALL_ERRORS
                                   : which == LB_OP_RESET_ALL ? LB_S_RESET_ALL
                                                              : LB_S_RECOVER;
    /* Slow and dead workers cannot be distinguished: claims older than ttl are freed. */
    return operate_class(op, which, section, which == LB_OP_RECOVER ? op->actor->plan->limit_ms : 0,
                         err);
}

int lb_operate_sweep(struct lb_operator *op, struct lb_error *err)
{
    const struct lb_strategy_plan *plan = op->actor->plan;
    bool takes_old = plan->program != NULL && plan->program->sweeps_by_life;
    return operate_class(op, LB_OP_RECOVER, LB_S_SWEEP, takes_old ? plan->limit_ms : 0, err);
}

int lb_operate_beat(struct lb_operator *op, bool enrolls, uint32_t log, struct lb_error *err)
{
    invoke(op, LB_OP_BEAT, log, 0, 0, 0);
    int answer = ask_class(op, LB_OP_BEAT, enrolls ? LB_S_REGISTER : LB_S_HEARTBEAT, err);
    struct lb_event event = {.op = LB_OP_BEAT, .object = log, .arg = op->actor->plan->limit_ms};
    return finish(op, LB_M_RELEASE, &event, answer);
}

/* An operation of the process that the history does not have. as: what it borrows a session for. */
static int operate_unrecorded(struct lb_operator *op, enum lb_op as, enum lb_section_name section,
                              struct lb_error *err)
{
    if (!take(op, as))
        return LB_TIMEOUT;
    int answer = op->actor->plan->strategy->flow->class(op->actor, section, err);
    if (op->lender != NULL)
        op->lender->give(op->lender_arg, as, answer);
    return answer;
}

int lb_operate_sign_off(struct lb_operator *op, uint32_t log, struct lb_error *err)
{
    append(op, &(struct lb_event){.time_ns = lb_now_ns(),
                                  .process = op->process,
                                  .arg = log,
                                  .op = LB_OP_SESSION_END,
                                  .type = LB_EV_NOTE});
    return operate_unrecorded(op, LB_OP_BEAT, LB_S_UNREGISTER, err);
}

int lb_operate_stop(struct lb_operator *op, struct lb_error *err)
{
    return operate_unrecorded(op, LB_OP_RECOVER, LB_S_STOP, err);
}

void lb_operator_note_write(struct lb_operator *op, uint32_t resource, const struct lb_grant *grant,
                            uint64_t start_ns, int answer)
{
    op->end_ns = lb_now_ns();
    struct lb_event event = {.time_ns = start_ns,
                             .value = (uint64_t)(grant->has_token ? grant->token : 0),
                             .process = op->process,
                             .object = resource,
                             .op = LB_OP_WRITE,
                             .flags = token_flag(grant),
                             .type = LB_EV_INVOKE};
    append(op, &event);
    event.time_ns = op->end_ns;
    event.answer = (uint8_t)answer;
    event.type = (uint8_t)type_of(answer, answer == LB_LOST);
    append(op, &event);
    if (answer == LB_LOST)
        op->process += op->n_processes;
}
