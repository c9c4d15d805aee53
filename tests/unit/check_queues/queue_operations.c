/* From a history to operations that can be put in order: each with the earliest and latest moment
 * at which it can have taken place. */
#include "queue_search.h"

struct claim_info claims[BRUTE_OPS];

uint32_t n_claims, first_claim; /* first: of the item that is being translated */

uint32_t place_now; /* in the log, from 1 */

bool is_too_much;

void add_brute(int kind, uint32_t who, uint64_t low, uint64_t high, bool optional, uint64_t a,
               uint32_t log)
{
    uint64_t most = UINT64_MAX - uncertainty_ns;
    is_too_much = is_too_much || brute.n == BRUTE_OPS;
    if (is_too_much)
        return;
    brute_add(&brute, (struct brute_op){.low = low > uncertainty_ns ? low - uncertainty_ns : 0,
                                        .high = high < most ? high + uncertainty_ns : UINT64_MAX,
                                        .optional = optional,
                                        .kind = kind,
                                        .who = who,
                                        .a = a,
                                        .place = place_now,
                                        .log = log == DATABASE ? 0 : log + 1});
}

/* Of the operation that was just added, unless there were too many. */
static void set_b(uint64_t b)
{
    if (!is_too_much)
        brute.ops[brute.n - 1].b = b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t after_ms(uint64_t low, uint64_t ms)
{
    uint64_t length = ms * UINT64_C(1000000), margin = 1000000 + ms * UINT64_C(1000);
    return low + (length > margin ? length - margin : 0);
}

/* The ends of one round trip are in the order of the invokes. */
const struct lb_event *end_of(uint32_t log, size_t i)
{
    const struct lb_event *events = history.events[log];
    size_t n_before = 0;
    bool has_ended = false;
    for (size_t k = i; k > 0 && events[i].type == LB_EV_INVOKE; k--) {
        n_before += events[k - 1].type == LB_EV_INVOKE;
        if (events[k - 1].type != LB_EV_INVOKE && events[k - 1].type != LB_EV_NOTE)
            break;
    }
    for (size_t k = i + 1; k < history.n[log]; k++) {
        if (events[k].type == LB_EV_NOTE || (events[k].type == LB_EV_INVOKE && !has_ended))
            continue;
        if (events[k].type == LB_EV_INVOKE)
            return NULL;
        has_ended = true;
        if (n_before-- == 0)
            return &events[k];
    }
    return NULL;
}

/* The request time of the operation that ended at a place; 0: it has no invoke. */
uint64_t asked_at(uint32_t log, size_t at)
{
    for (size_t i = at; i-- > 0;)
        if (history.events[log][i].type == LB_EV_INVOKE &&
            end_of(log, i) == &history.events[log][at])
            return history.events[log][i].time_ns;
    return 0;
}

static void translate_claim(uint32_t log, const struct lb_event *invoke, const struct lb_event *end,
                            uint64_t id)
{
    if (end == NULL || end->type != LB_EV_OK)
        return;
    for (const struct lb_event *note = invoke + 1; note < end; note++) {
        if (note->op != LB_OP_ITEM || note->value != id)
            continue;
        struct claim_info *c = &claims[n_claims++];
        *c = (struct claim_info){
            .log = log, .note = note, .low = invoke->time_ns, .high = end->time_ns};
        /* An item that is there twice was claimed twice, in this order. */
        place_now = (uint32_t)(note - history.events[log]) + 1;
        add_brute(CLAIM, n_claims, invoke->time_ns, end->time_ns, false, 0, log);
        c->renewed_low[0] = c->low;
        if (note->arg > 0) {
            c->expiry_low = after_ms(invoke->time_ns, note->arg);
            add_brute(EXPIRE, n_claims, c->expiry_low, UINT64_MAX, true, 0, DATABASE);
        }
    }
}

uint32_t claim_before(uint32_t log, const struct lb_event *event)
{
    uint32_t found = 0;
    for (uint32_t i = first_claim; i < n_claims; i++)
        if (claims[i].log == log && claims[i].note < event)
            found = i + 1;
    return found;
}

static bool add_unknown_end(struct claim_info *c, const struct lb_event *invoke)
{
    if ((c->note->flags & LB_EVF_FINAL) != 0)
        return false;
    if (c->n_unknown_ends == sizeof c->unknown_ends / sizeof c->unknown_ends[0])
        abort();
    c->unknown_ends[c->n_unknown_ends++] = invoke;
    return true;
}

static bool is_unknown_end(const struct claim_info *c, const struct lb_event *invoke)
{
    for (uint32_t i = 0; i < c->n_unknown_ends; i++)
        if (c->unknown_ends[i] == invoke)
            return true;
    return false;
}

static void translate_op(uint32_t log, const struct lb_event *invoke, const struct lb_event *end,
                         uint64_t id)
{
    int type = end == NULL ? LB_EV_NONE : end->type, op = invoke->op;
    bool mine = invoke->value == id;
    uint64_t high = type == LB_EV_OK ? end->time_ns : UINT64_MAX;
    uint32_t who = claim_before(log, invoke);
    if (type == LB_EV_FAIL)
        return;
    if (op == LB_OP_RESET_ALL || op == LB_OP_CLEAR_ALL || (op == LB_OP_CLEAR_ERROR && mine))
        add_brute(op == LB_OP_RESET_ALL ? RESET : CLEAR, 0, invoke->time_ns, high, type != LB_EV_OK,
                  0, log);
    bool renews = op == LB_OP_RENEW_ITEM && mine && who > 0 &&
                  (type != LB_EV_OK || (end->flags & LB_EVF_EFFECTIVE) != 0);
    if (renews && type != LB_EV_OK && claims[who - 1].note->arg > 0) { /* shorter, perhaps */
        uint64_t low = invoke->arg > 0 ? after_ms(invoke->time_ns, invoke->arg) : invoke->time_ns;
        add_brute(EXPIRE, who, most(low, claims[who - 1].low), UINT64_MAX, true,
                  claims[who - 1].n_renewals, DATABASE);
    }
    if (renews && type == LB_EV_OK) {
        struct claim_info *c = &claims[who - 1];
        uint32_t length = end->arg > 0 ? end->arg : invoke->arg;
        bool is_told = length > 0; /* else it was at least as long as before, but unknown */
        uint64_t low = is_told ? after_ms(invoke->time_ns, length) : invoke->time_ns;
        uint32_t number = ++c->n_renewals;
        int kind = c->is_closed ? KEEP : RENEW;
        c->aged = is_told && kind == RENEW ? number : c->aged;
        c->renewed_low[number] = c->aged == number ? invoke->time_ns : UINT64_MAX;
        c->renewed_ms[number] = length;
        c->renewal[number] = invoke;
        c->is_kept[number] = kind == KEEP;
        c->expiry_low = is_told || low > c->expiry_low ? low : c->expiry_low;
        add_brute(kind, who, invoke->time_ns, high, false, number, log);
        set_b(c->aged);
        if (c->note->arg > 0)
            add_brute(EXPIRE, who, c->expiry_low, UINT64_MAX, true, number, log);
    }
    if ((op == LB_OP_FREE || op == LB_OP_ERROR || op == LB_OP_COMPLETE) && mine) {
        bool certain = type == LB_EV_OK && (end->flags & LB_EVF_EFFECTIVE) != 0;
        if (who > 0 && claims[who - 1].is_ended)
            who = 0; /* it has it no more */
        bool is_first = certain && who > 0;
        if (who > 0)
            claims[who - 1].is_closed = true;
        if (is_first)
            claims[who - 1].is_ended = true;
        bool lets_go = type == LB_EV_INFO && who > 0 && add_unknown_end(&claims[who - 1], invoke);
        /* A worker without the item may have ended any worker's claim, or none. */
        add_brute(is_first ? END : CLOSE, who, invoke->time_ns, high, !certain || who == 0,
                  (uint64_t)op | (lets_go ? LETS_GO : 0), log);
    }
}

struct beat {
    const struct lb_event *invoke, *ok; /* ok: NULL, its outcome is unknown */
};

/* The beats of a worker's process that were not refused, in order of the logs that they stand in;
 * false: there are fewer. */
static bool beat_of(uint32_t worker, uint32_t number, struct beat *ret)
{
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *e = &history.events[log][i], *end = end_of(log, i);
            if (e->op == LB_OP_BEAT && e->type == LB_EV_INVOKE && e->object == worker &&
                (end == NULL || end->type != LB_EV_FAIL) && number-- == 0) {
                *ret = (struct beat){e, end != NULL && end->type == LB_EV_OK ? end : NULL};
                return true;
            }
        }
    return false;
}

/* When a claim, renewed k times and with the beat (NULL: none) as the last one, is old enough. */
static uint64_t old_enough(const struct claim_info *c, uint32_t k, const struct beat *beat,
                           uint32_t age)
{
    uint32_t beat_ms =
        beat == NULL || beat->ok == NULL || beat->ok->arg > age ? age : beat->ok->arg;
    uint32_t renewed_ms = c->renewed_ms[k] < age ? c->renewed_ms[k] : age;
    uint64_t old = after_ms(beat != NULL ? beat->invoke->time_ns : c->low, beat_ms);
    if (k == 0)
        return old;
    return most(old, after_ms(c->renewed_low[k], renewed_ms));
}

/* A recovery, for each claim that can have been old enough. */
static void translate_recovery(uint32_t log, const struct lb_event *invoke,
                               const struct lb_event *end, uint32_t number)
{
    bool ok = end != NULL && end->type == LB_EV_OK;
    if (end != NULL && end->type == LB_EV_FAIL)
        return;
    for (uint32_t i = 0; i < n_claims && invoke->arg > 0; i++)
        for (uint32_t k = 0; k <= claims[i].n_renewals; k++) {
            if (claims[i].renewed_low[k] == UINT64_MAX)
                continue;
            for (uint32_t j = 0;; j++) {
                struct beat beat;
                if (j > 0 && !beat_of(claims[i].log, j - 1, &beat))
                    break;
                uint64_t old = old_enough(&claims[i], k, j > 0 ? &beat : NULL, invoke->arg);
                uint64_t low = most(most(old, invoke->time_ns), claims[i].low);
                if ((ok && low > end->time_ns) ||
                    (ok && j > 0 && beat.invoke->time_ns > end->time_ns))
                    continue;
                add_brute(RECOVER, i + 1, low, ok ? end->time_ns : UINT64_MAX, true, number, log);
                set_b(k | (uint64_t)j << 8);
            }
        }
}

/* Beats, of the workers that claimed the item. They concern no item, so their order within a tick
 * does not matter. */
static void translate_beats(void)
{
    for (uint32_t worker = 0; worker < LOGS; worker++) {
        bool has_claimed = false;
        for (uint32_t i = 0; i < n_claims; i++)
            has_claimed = has_claimed || claims[i].log == worker;
        uint32_t number = 0;
        struct beat beat;
        while (has_claimed && beat_of(worker, number, &beat))
            add_brute(BEAT, worker, beat.invoke->time_ns,
                      beat.ok != NULL ? beat.ok->time_ns : UINT64_MAX, beat.ok == NULL, ++number,
                      DATABASE);
        is_too_much = is_too_much || number > 15;
    }
}

/* --- sessions that ended --- */

/* When the last operation was asked for that a log had been answered before an event of it, and
 * before a time. */
static uint64_t answered_before(uint32_t log, size_t before, uint64_t time)
{
    uint64_t last = 0;
    for (size_t i = 0; i < before && i < history.n[log]; i++) {
        const struct lb_event *e = &history.events[log][i];
        if ((e->type == LB_EV_OK || e->type == LB_EV_FAIL) && e->time_ns < time)
            last = asked_at(log, i);
    }
    return last;
}

/* A lost item is given back at any time from low on, and again if its worker renewed it, except by
 * effective renewals since then: after an event of its own log, or after the time of another's note
 * (own is NULL). An event of its own log has its place there, also within a tick. */
static void add_loss(uint32_t who, uint64_t low, const struct lb_event *own, uint64_t noted)
{
    const struct claim_info *c = &claims[who - 1];
    uint64_t limit = c->n_renewals;
    for (uint32_t k = 1; k <= c->n_renewals; k++) {
        const struct lb_event *renewal = c->renewal[k];
        bool is_since = own != NULL ? renewal > own : renewal->time_ns > noted;
        if (is_since && !c->is_kept[k] && k - 1 < limit)
            limit = k - 1;
    }
    for (uint64_t k = 0; k <= limit; k++) {
        place_now = own != NULL ? (uint32_t)(own - history.events[c->log]) + 1 : 0;
        add_brute(GONE, who, most(low, c->low), UINT64_MAX, true, 0,
                  own != NULL ? c->log : DATABASE);
        set_b(k);
    }
}

/* What the worker had is let go of. The session was there for all that it had answered. */
static void translate_session_end(uint32_t log, size_t at)
{
    const struct lb_event *e = &history.events[log][at];
    uint32_t worker = e->arg;
    uint64_t low = log == worker ? answered_before(log, at, UINT64_MAX)
                                 : answered_before(worker, SIZE_MAX, e->time_ns);
    for (uint32_t l = 0; l < LOGS; l++) /* the one before had ended by then */
        for (size_t i = 0; i < history.n[l]; i++) {
            const struct lb_event *other = &history.events[l][i];
            if (other->type == LB_EV_NOTE && other->op == LB_OP_SESSION_END &&
                other->arg == worker && other->time_ns < e->time_ns)
                low = most(low, other->time_ns);
        }
    for (uint32_t i = 0; i < n_claims; i++) {
        bool is_own = claims[i].log == worker && (claims[i].note->flags & LB_EVF_FINAL) == 0;
        if (is_own && (log == worker ? claims[i].note < e : claims[i].low <= e->time_ns))
            add_loss(i + 1, low, log == worker ? e : NULL, e->time_ns);
    }
}

/* The connection is gone, and with it what this worker held. If it was to end a claim, that is what
 * may have come of the end. */
static void translate_unknown(uint32_t log, const struct lb_event *invoke)
{
    for (uint32_t i = 0; i < n_claims; i++)
        if (claims[i].log == log && claims[i].note < invoke &&
            !is_unknown_end(&claims[i], invoke) && (claims[i].note->flags & LB_EVF_FINAL) == 0)
            add_loss(i + 1, invoke->time_ns, invoke, 0);
}

/* Was the process's connection gone by an end that stands before its own? It is lost once. */
static bool was_unknown(uint32_t log, const struct lb_event *end)
{
    for (const struct lb_event *e = history.events[log]; e < end; e++)
        if (e->type == LB_EV_INFO && e->process == end->process)
            return true;
    return false;
}

static void translate_losses(void)
{
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *e = &history.events[log][i], *end = end_of(log, i);
            if (e->type == LB_EV_INVOKE && end != NULL && end->type == LB_EV_INFO &&
                !was_unknown(log, end))
                translate_unknown(log, e);
            if (e->type == LB_EV_NOTE && e->op == LB_OP_SESSION_END)
                translate_session_end(log, i);
        }
}

void translate_recoveries(void)
{
    uint32_t number = 0;
    translate_beats();
    translate_losses();
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *e = &history.events[log][i];
            place_now = (uint32_t)i + 1;
            if (e->type == LB_EV_INVOKE && e->op == LB_OP_RECOVER)
                translate_recovery(log, e, end_of(log, i), number++);
        }
}

void translate_one(uint64_t id)
{
    first_claim = n_claims;
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *invoke = &history.events[log][i], *end = end_of(log, i);
            place_now = (uint32_t)i + 1;
            if (invoke->type != LB_EV_INVOKE)
                continue;
            if (invoke->op == LB_OP_CLAIM)
                translate_claim(log, invoke, end, id);
            else
                translate_op(log, invoke, end, id);
        }
}

void translate_item(uint64_t id)
{
    brute.n = n_claims = 0;
    translate_one(id);
    translate_recoveries();
}
