/* The table of intervals of an item: each event of its history as an operation that takes effect
 * between low and high (spec/item.h).
 *
 *   claim, renewal, end       from the invoke to the answer; must, if it had an effect for certain
 *   unknown outcome           from the invoke on; may
 *   end by a stranger         from the invoke to the answer; may, whatever the answer
 *   a lease's end             from its earliest end by the clock on; may
 *   a lost worker             from the invoke of its unknown outcome, or from the earliest end of
 *                             its session, on; may. Not of an item that was taken out for good
 *   a recovery                from the time at which it can take one of the claims; may
 *   a cut                     from there on each claim may have ended
 *
 * A worker's own operations, also its unknown outcomes and its own notes, have a place in its log.
 */
#include "item_ops.h"

#include "order.h"

/* The claim of a log that is being followed. */
struct follow {
    struct lb_item_ops *ops;
    const struct lb_item_record *const *records;
    size_t n, place;                    /* place: of the claim */
    const struct lb_item_record *claim; /* NULL: none */
    uint32_t number;                    /* of the claim's operation */
    uint32_t renewed;                   /* its last renewal, plus 1; 0: none */
    uint32_t aged;                      /* ... that said a length in time */
    uint64_t expiry;
    bool is_closed, is_ended; /* its worker may have ended it; has certainly */
};

static uint32_t next_number(const struct lb_item_ops *ops)
{
    return (uint32_t)ops->array.n;
}

/* --- what ends a claim --- */

static void add_expiry(const struct follow *f, uint64_t low)
{
    if (f->claim->lease_ms == 0 || f->ops->purpose == LB_FOR_EXECUTIONS)
        return;
    lb_item_ops_push(f->ops, &(struct lb_spec_op){.low = lb_max_u64(low, f->claim->low),
                                                  .high = LB_NEVER,
                                                  .log = LB_NONE,
                                                  .about = f->number,
                                                  .last = f->renewed,
                                                  .arg = f->renewed,
                                                  .kind = LB_ITEM_EXPIRE});
}

/* The loss of a claim's worker, from low on: of the claim, and of its renewals up to a limit. */
struct loss {
    uint64_t low;
    uint32_t log, position; /* LB_NONE: of no log */
    uint32_t limit;
};

static void add_loss(const struct follow *f, const struct loss *loss)
{
    uint32_t last = 0;
    for (uint32_t i = f->number + 1; i < f->ops->array.n && i < loss->limit; i++)
        last = lb_item_op(f->ops, i)->kind == LB_ITEM_RENEW ? i + 1 : last;
    lb_item_ops_push(f->ops, &(struct lb_spec_op){.low = lb_max_u64(loss->low, f->claim->low),
                                                  .high = LB_NEVER,
                                                  .log = loss->log,
                                                  .position = loss->position,
                                                  .about = f->number,
                                                  .last = last,
                                                  .arg = loss->limit,
                                                  .kind = LB_ITEM_LOSE,
                                                  .repeats = true});
}

/* The last renewal of the claim, plus 1, that can be of the session that was lost: none that was
 * asked for after the loss was noted. */
static uint32_t limit_of(const struct follow *f, bool is_own, uint32_t event, uint64_t noted)
{
    uint32_t limit = LB_NONE;
    for (uint32_t i = f->number + 1; i < f->ops->array.n; i++) {
        const struct lb_spec_op *op = lb_item_op(f->ops, i);
        if (op->kind == LB_ITEM_RENEW && op->about == f->number &&
            (is_own ? op->position > event : op->low > noted))
            return limit == LB_NONE ? 0 : limit;
        if ((op->kind == LB_ITEM_RENEW || op->kind == LB_ITEM_KEEP) && op->about == f->number)
            limit = i + 1;
    }
    return LB_NONE;
}

/* True if an end of the claim by its own worker had the unknown outcome number i; a batch has one.
 */
static bool is_own_end(const struct follow *f, size_t i)
{
    const struct lb_info *infos = f->ops->c->infos.items;
    bool is_last = i + 1 == f->ops->c->infos.n || infos[i + 1].log != infos[i].log;
    for (size_t k = f->place + 1; k < f->n; k++) {
        const struct lb_item_record *e = f->records[k];
        if (e->log != f->claim->log || e->op == LB_OP_ITEM)
            return false;
        if (lb_item_closes(e->op) && e->type == LB_EV_INFO && e->event >= infos[i].event &&
            (is_last || e->event < infos[i + 1].event))
            return true;
        if (lb_item_closes(e->op) && lb_item_certain(e)) /* the next one is a stranger's */
            return false;
    }
    return false;
}

/* The place of the first unknown outcome of the log after the claim, or of another log's. */
static size_t first_info(const struct lb_case *c, const struct lb_item_record *claim)
{
    const struct lb_info *infos = c->infos.items;
    size_t low = 0, high = c->infos.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (infos[middle].log < claim->log ||
            (infos[middle].log == claim->log && infos[middle].event < claim->event))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of several losses with one limit the first is enough. */
static void add_infos(const struct follow *f)
{
    const struct lb_case *c = f->ops->c;
    const struct lb_info *infos = c->infos.items;
    bool is_any = false;
    uint32_t limit = 0;
    for (size_t i = first_info(c, f->claim); i < c->infos.n && infos[i].log == f->claim->log; i++) {
        uint32_t mine = limit_of(f, true, infos[i].event, 0);
        if (is_own_end(f, i) || (is_any && mine <= limit))
            continue;
        is_any = true;
        limit = mine;
        add_loss(f, &(struct loss){.low = infos[i].low,
                                   .log = infos[i].log,
                                   .position = infos[i].event,
                                   .limit = mine});
        if (mine == LB_NONE)
            break;
    }
}

static void add_session_ends(const struct follow *f)
{
    const struct lb_case *c = f->ops->c;
    const struct lb_session_end *ends = f->ops->world->session_ends.items;
    size_t low = 0, high = f->ops->world->session_ends.n, n = high;
    struct loss kept[2] = {{.low = LB_NEVER}, {.low = LB_NEVER}}; /* by others' notes, by its own */
    /* From the first end of the session since the invoke of the claim on: its answer may have been
     * on its way when another log noted the end. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ends[middle].log < f->claim->log ||
            (ends[middle].log == f->claim->log && ends[middle].high < f->claim->low))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < n && ends[low].log == f->claim->log; low++) {
        bool is_own = ends[low].event != LB_NONE;
        struct loss loss = {.low = ends[low].low,
                            .log = is_own ? f->claim->log : LB_NONE,
                            .position = is_own ? ends[low].event : 0,
                            .limit = limit_of(f, is_own, ends[low].event, ends[low].high)};
        if ((is_own && ends[low].event <= f->claim->event) ||
            (kept[is_own].low <= loss.low && loss.limit <= kept[is_own].limit))
            continue;
        kept[is_own] = loss;
        add_loss(f, &loss);
    }
    /* In a history that was cut, the note of its session's end may be missing. */
    if (c->known_ns != LB_NEVER && c->logs[f->claim->log].unnoted != LB_NEVER)
        add_loss(f, &(struct loss){
                        .low = c->logs[f->claim->log].unnoted, .log = LB_NONE, .limit = LB_NONE});
}

/* Once all events of the claim's worker up to its next claim are known. */
static void add_losses(const struct follow *f)
{
    const struct lb_case *c = f->ops->c;
    bool is_final = f->claim != NULL && (f->claim->flags & LB_EVF_FINAL) != 0;
    if (f->claim == NULL)
        return;
    if (c->known_ns != LB_NEVER)
        add_loss(f, &(struct loss){.low = c->known_ns, .log = LB_NONE, .limit = LB_NONE});
    if (is_final || f->ops->purpose == LB_FOR_EXECUTIONS)
        return;
    add_infos(f);
    if ((f->claim->flags & LB_EVF_COMMITTED) == 0)
        add_session_ends(f);
}

/* --- one event --- */

static void add_claim(struct follow *f, size_t place)
{
    const struct lb_item_record *e = f->records[place];
    struct lb_item_ops *ops = f->ops;
    f->place = place;
    f->claim = e;
    f->number = next_number(ops);
    f->renewed = f->aged = 0;
    f->expiry = lb_lease_low(f->ops->c, e->low, e->lease_ms);
    f->is_closed = f->is_ended = false;
    if (ops->n_claims++ == 0)
        ops->first = ops->gone = LB_NEVER;
    ops->first = lb_min_u64(ops->first, e->low);
    ops->gone = lb_min_u64(ops->gone, ops->c->logs[e->log].gone_ns);
    ops->last = lb_max_u64(ops->last, e->high);
    lb_item_ops_push(ops, &(struct lb_spec_op){.low = e->low,
                                               .high = e->high,
                                               .log = e->log,
                                               .position = e->event,
                                               .about = LB_NONE,
                                               .kind = LB_ITEM_CLAIM,
                                               .rank = 1,
                                               .must = true,
                                               .detail = e});
    add_expiry(f, f->expiry);
}

static void add_renewal(struct follow *f, const struct lb_item_record *e)
{
    bool is_told = e->lease_ms > 0;
    if (f->claim == NULL || f->is_ended || f->ops->purpose == LB_FOR_EXECUTIONS)
        return;
    uint64_t low = is_told ? lb_lease_low(f->ops->c, e->low, e->lease_ms) : e->low;
    if (e->type != LB_EV_OK) { /* it may have made the lease shorter, as far as it says */
        add_expiry(f, low);
        return;
    }
    uint32_t number = next_number(f->ops);
    f->expiry = is_told ? low : lb_max_u64(low, f->expiry);
    f->renewed = number + 1;
    if (is_told && !f->is_closed)
        f->aged = number + 1;
    f->ops->last = lb_max_u64(f->ops->last, e->high);
    lb_item_ops_push(f->ops,
                     &(struct lb_spec_op){.low = e->low,
                                          .high = e->high,
                                          .log = e->log,
                                          .position = e->event,
                                          .about = f->number,
                                          .arg = f->aged,
                                          .kind = f->is_closed ? LB_ITEM_KEEP : LB_ITEM_RENEW,
                                          .rank = 1,
                                          .must = true,
                                          .detail = e});
    add_expiry(f, f->expiry);
}

static uint8_t phase_after(int op)
{
    return op == LB_OP_FREE ? LB_ITEM_WAITING : op == LB_OP_ERROR ? LB_ITEM_FAILED : LB_ITEM_DONE;
}

static void add_end(struct follow *f, const struct lb_item_record *e, bool is_shared)
{
    struct lb_item_ops *ops = f->ops;
    bool is_bound = f->claim != NULL && !f->is_ended, is_certain = lb_item_certain(e);
    bool is_once = ops->purpose == LB_FOR_EXECUTIONS;
    uint64_t period = e->op == LB_OP_COMPLETE ? ops->c->model->period_ns : 0;
    uint32_t number = next_number(ops), arg = is_shared || !is_bound ? LB_ITEM_END_SHARED : 0;
    if (is_once && !is_bound)
        return;
    if (is_bound && e->type == LB_EV_INFO && !is_once && (f->claim->flags & LB_EVF_FINAL) == 0)
        arg |= LB_ITEM_END_LETS_GO;
    if (period > 0)
        arg |= LB_ITEM_END_COUNTS;
    if (is_bound) {
        f->is_closed = true;
        f->is_ended = is_certain;
    }
    if (e->high != LB_NEVER)
        ops->last = lb_max_u64(ops->last, e->high);
    bool is_spare = period == 0 && !is_once && ops->purpose == LB_FOR_ITEM;
    lb_item_ops_push(ops, &(struct lb_spec_op){.low = e->low,
                                               .high = e->high,
                                               .log = e->log,
                                               .position = e->event,
                                               .about = is_bound ? f->number : LB_NONE,
                                               .arg = arg,
                                               .kind = LB_ITEM_END,
                                               .to = phase_after(e->op),
                                               .spare = is_spare ? phase_after(e->op) + 1 : 0,
                                               .must = is_bound && is_certain,
                                               .detail = e});
    if (period == 0)
        return;
    lb_item_ops_push(ops, &(struct lb_spec_op){.low = e->low + period,
                                               .high = LB_NEVER,
                                               .log = LB_NONE,
                                               .about = number,
                                               .kind = LB_ITEM_DUE});
}

static void add_clear(struct lb_item_ops *ops, const struct lb_item_record *e)
{
    lb_item_ops_push(ops, &(struct lb_spec_op){.low = e->low,
                                               .high = e->high,
                                               .log = e->log,
                                               .position = e->event,
                                               .about = LB_NONE,
                                               .kind = LB_ITEM_OPEN,
                                               .to = LB_ITEM_FAILED,
                                               .twin = LB_ITEM_FAILED,
                                               .must = e->type == LB_EV_OK,
                                               .detail = e});
}

void lb_item_ops_clear(struct lb_item_ops *ops)
{
    ops->array.n = 0;
    ops->n_claims = ops->n_beaters = ops->n_classes = 0;
    ops->first = ops->last = 0;
    ops->doubt = NULL;
}

static void add_class(struct lb_item_ops *ops, uint32_t class_no)
{
    uint32_t i = 0;
    while (i < ops->n_classes && ops->classes[i] != class_no)
        i++;
    if (i == LB_ITEM_CLASSES) {
        ops->doubt = "an item was moved from class to class";
        return;
    }
    ops->classes[i] = class_no;
    ops->n_classes = i == ops->n_classes ? i + 1 : ops->n_classes;
}

void lb_item_ops_add(struct lb_item_ops *ops, const struct lb_item_record *const *records, size_t n)
{
    struct follow f = {.ops = ops, .records = records, .n = n};
    size_t n_claims = 0;
    for (size_t i = 0; i < n; i++) {
        n_claims += records[i]->op == LB_OP_ITEM;
        add_class(ops, records[i]->class_no);
    }
    for (size_t i = 0; i < n; i++) {
        const struct lb_item_record *e = records[i];
        if (i > 0 && records[i - 1]->log != e->log) {
            add_losses(&f);
            f.claim = NULL;
        }
        if (e->op == LB_OP_ITEM) {
            add_losses(&f);
            add_claim(&f, i);
        } else if (e->op == LB_OP_RENEW_ITEM) {
            add_renewal(&f, e);
        } else if (lb_item_closes(e->op)) {
            add_end(&f, e, n_claims > 1);
        } else if (ops->purpose != LB_FOR_GROUP) {
            add_clear(ops, e);
        }
    }
    add_losses(&f);
}

/* --- operations on all items --- */

/* When the claim is old enough for a recovery by age: a renewal keeps it as long as it says, and so
 * does a beat of its process; neither shortens the other. */
static uint64_t old_enough(const struct lb_case *c, const struct lb_item_record *claim,
                           const struct lb_item_record *renewal, uint32_t beat, uint32_t age_ms)
{
    const struct lb_beat *beats = c->beats.items;
    uint64_t from = lb_lease_low(c, claim->low, age_ms);
    if (beat == LB_ITEM_BEAT_UNSURE)
        from = lb_lease_low(c, c->logs[claim->log].unsure_beat, age_ms);
    else if (beat > 0)
        from = lb_kept_off(c, beats[beat - 1].low, beats[beat - 1].safe_ms, age_ms);
    if (renewal != NULL)
        from = lb_max_u64(from, lb_kept_off(c, renewal->low, renewal->lease_ms, age_ms));
    return lb_max_u64(from, claim->low);
}

uint64_t lb_item_recovered_from(const struct lb_case *c, const struct lb_moment *recovery,
                                const struct lb_item_record *claim,
                                const struct lb_item_record *renewal, uint32_t beat)
{
    uint64_t from = c->logs[claim->log].gone_ns;
    if (recovery->age_ms > 0)
        from = lb_min_u64(from, old_enough(c, claim, renewal, beat, recovery->age_ms));
    return recovery->high < from ? LB_NEVER : lb_max_u64(from, recovery->low);
}

bool lb_item_ops_recovers(const struct lb_object *object, uint32_t recovery,
                          const struct lb_item_state *state, uint64_t now)
{
    const struct lb_item_model *model = object->context;
    const struct lb_item_ops *ops = model->context;
    const struct lb_spec_op *claim = lb_item_op(ops, state->by);
    uint32_t aged = state->renewed > 0 ? lb_item_op(ops, state->renewed - 1)->arg : 0;
    uint32_t beat = claim->to > 0 ? state->beat[claim->to - 1] : 0;
    return lb_item_recovered_from(ops->c, lb_item_op(ops, recovery)->detail, claim->detail,
                                  aged > 0 ? lb_item_record_of(ops, aged - 1) : NULL, beat) <= now;
}

/* The earliest time at which the recovery can take any of the claims, or before; LB_NEVER. */
static uint64_t recovers_from(const struct lb_item_ops *ops, const struct lb_moment *recovery)
{
    const struct lb_case *c = ops->c;
    bool has_beats =
        c->beats.n > 0 || c->has_unsure_beats; /* then it may be older than the claim */
    uint64_t from = ops->gone;
    if (recovery->age_ms > 0)
        from = lb_min_u64(from, has_beats ? ops->first
                                          : lb_lease_low(ops->c, ops->first, recovery->age_ms));
    from = lb_max_u64(from, ops->first);
    return recovery->high < from ? LB_NEVER : lb_max_u64(from, recovery->low);
}

static void add_recoveries(struct lb_item_ops *ops, uint64_t most, bool *ret_asks_age)
{
    const struct lb_moment *end,
        *m = lb_openers_from(ops->world, LB_OP_RECOVER, 0, ops->first, &end);
    for (; m != NULL && m < end && m->op == LB_OP_RECOVER && m->least <= ops->last &&
           ops->array.n <= most;
         m++) {
        uint64_t low = recovers_from(ops, m);
        if (low > ops->last)
            continue;
        *ret_asks_age = *ret_asks_age || m->age_ms > 0;
        lb_item_ops_push(ops, &(struct lb_spec_op){.low = low,
                                                   .high = m->high,
                                                   .log = m->log,
                                                   .position = m->position,
                                                   .about = LB_NONE,
                                                   .kind = LB_ITEM_RECOVER,
                                                   .detail = m});
    }
}

static void add_beat(struct lb_item_ops *ops, uint32_t worker, uint64_t low, uint64_t high,
                     uint32_t arg)
{
    lb_item_ops_push(ops, &(struct lb_spec_op){.low = low,
                                               .high = high,
                                               .log = LB_NONE,
                                               .about = LB_NONE,
                                               .arg = arg,
                                               .kind = LB_ITEM_BEAT,
                                               .to = (uint8_t)worker,
                                               .must = high != LB_NEVER});
}

/* The beats of one worker's process that can matter to its claims. first: the invoke of the first
 * claim. Of beats that were under way at one time any may have come last. */
static void add_beats_of(struct lb_item_ops *ops, uint32_t worker, uint64_t first)
{
    const struct lb_case *c = ops->c;
    const struct lb_beat *beats = c->beats.items;
    uint32_t log = ops->beaters[worker];
    size_t i = lb_beats_from(c, log, first);
    for (uint64_t last = 0; i > 0 && beats[i - 1].log == log && beats[i - 1].high >= last;
         last = lb_max_u64(last, beats[i].low))
        i--;
    for (; i < c->beats.n && beats[i].log == log && beats[i].low <= ops->last; i++)
        add_beat(ops, worker, beats[i].low, beats[i].high, (uint32_t)i + 1);
    if (c->logs[log].has_unsure_beat)
        add_beat(ops, worker, c->logs[log].unsure_beat, LB_NEVER, LB_ITEM_BEAT_UNSURE);
}

/* Of all workers that claimed and whose processes beat. */
static void add_beats(struct lb_item_ops *ops)
{
    const struct lb_case *c = ops->c;
    uint64_t first[LB_ITEM_BEATERS];
    for (size_t i = 0; i < ops->array.n; i++) {
        struct lb_spec_op *op = (struct lb_spec_op *)ops->array.items + i;
        uint32_t k = 0;
        if (op->kind != LB_ITEM_CLAIM ||
            !(lb_beats_any(c, op->log) || c->logs[op->log].has_unsure_beat))
            continue;
        while (k < ops->n_beaters && ops->beaters[k] != op->log)
            k++;
        if (k == LB_ITEM_BEATERS) {
            ops->doubt = "too many workers whose processes beat had an item";
            return;
        }
        if (k == ops->n_beaters)
            first[ops->n_beaters++] = op->low;
        ops->beaters[k] = op->log;
        first[k] = lb_min_u64(first[k], op->low);
        op->to = (uint8_t)(k + 1);
    }
    for (uint32_t k = 0; k < ops->n_beaters; k++)
        add_beats_of(ops, k, first[k]);
}

/* A reset that finds nothing to open may as well do so later, unless its item can be done, or fail,
 * after its claim was taken back: then it matters what was opened before. */
static void let_openers_wait(struct lb_item_ops *ops)
{
    struct lb_spec_op *all = ops->array.items;
    bool is_taken = false;
    for (size_t i = 0; i < ops->array.n && !is_taken; i++)
        is_taken = all[i].kind == LB_ITEM_EXPIRE || all[i].kind == LB_ITEM_LOSE ||
                   all[i].kind == LB_ITEM_RECOVER || (all[i].kind == LB_ITEM_END && !all[i].must);
    for (size_t i = 0; i < ops->array.n && !is_taken; i++)
        all[i].waits = all[i].kind == LB_ITEM_OPEN;
}

void lb_item_ops_finish(struct lb_item_ops *ops, uint64_t most)
{
    bool asks_age = false;
    if (ops->purpose != LB_FOR_GROUP)
        lb_item_ops_add_openers(ops, most);
    if (ops->purpose != LB_FOR_EXECUTIONS)
        add_recoveries(ops, most, &asks_age);
    if (asks_age)
        add_beats(ops);
    let_openers_wait(ops);
}

void lb_item_ops_fill(struct lb_item_ops *ops, const struct lb_item_record *const *records,
                      size_t n, uint64_t most)
{
    lb_item_ops_clear(ops);
    lb_item_ops_add(ops, records, n);
    lb_item_ops_finish(ops, most);
}

void lb_item_ops_search(struct lb_item_ops *ops, struct lb_search *search,
                        const struct lb_automaton *automaton, const struct lb_item_model *model)
{
    struct lb_object object = {.automaton = automaton,
                               .ops = ops->array.items,
                               .n_ops = (uint32_t)ops->array.n,
                               .known_until = ops->c->known_ns,
                               .context = model};
    lb_search_run(search, &object);
}

/* --- of a break --- */

uint32_t lb_item_ops_claim_before(const struct lb_item_ops *ops, uint32_t number, uint32_t other)
{
    uint32_t found = other;
    for (uint32_t i = 0; i < ops->array.n && other == LB_SPEC_NONE; i++) {
        const struct lb_spec_op *op = lb_item_op(ops, i);
        if (op->kind == LB_ITEM_CLAIM && i != number && op->low <= lb_item_op(ops, number)->high &&
            (found == LB_SPEC_NONE || op->high > lb_item_op(ops, found)->high))
            found = i;
    }
    return found != LB_SPEC_NONE ? found : number;
}

uint64_t lb_item_ops_end(const struct lb_item_ops *ops, uint32_t number)
{
    uint64_t end = LB_NEVER;
    uint32_t claim = lb_item_op(ops, number)->about;
    claim = claim == LB_SPEC_NONE ? number : claim;
    for (uint32_t i = claim + 1; i < ops->array.n && lb_item_op(ops, i)->kind != LB_ITEM_CLAIM;
         i++) {
        const struct lb_spec_op *op = lb_item_op(ops, i);
        if (op->about == claim && (op->kind == LB_ITEM_END || op->kind == LB_ITEM_LOSE ||
                                   (op->kind == LB_ITEM_EXPIRE && op->high == LB_NEVER)))
            end = lb_min_u64(end, op->low);
    }
    return end;
}

uint32_t lb_item_ops_culprit(const struct lb_item_ops *ops, const struct lb_break *one)
{
    const struct lb_spec_op *shown = lb_item_op(ops, one->op);
    uint32_t found = one->by;
    for (uint32_t i = 0; i < ops->array.n && lb_item_op(ops, one->by)->kind != LB_ITEM_END; i++) {
        const struct lb_spec_op *op = lb_item_op(ops, i);
        if (op->kind == LB_ITEM_END && op->must && op->low <= shown->high &&
            op->high >= shown->high)
            found = i;
    }
    return found;
}
