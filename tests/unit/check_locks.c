/* Locks: every closed form of the judge against a brute-force search, on random small histories and
 * on mutations of them. The translation from a history to operations is written anew here, from the
 * definitions, and shares no code with the judge. */
#include "check_brute.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { LOGS = 4, MS = 1000000 };

static struct test_history history;
static struct lb_judgement judgement;
static struct brute brute;
static uint64_t seed;

/* --- random histories --- */

struct shape {
    const char *name;
    uint32_t capacity, max_permits, shared_percent, resources;
    bool reentrant, lease, tokens, tickets, writes, odd_ends;
    bool sound_only; /* the judge may let a violation pass; it may not invent one */
    bool late;       /* the first worker overruns its lease */
    bool bare;       /* releases say nothing but the resource, as other tools' do */
    bool retry;      /* a worker asks again, whatever it was told */
    uint32_t most_held;
    enum lb_release_semantics release;
    uint64_t tick;
    enum lb_guarantee guarantee;
    bool (*legal)(const struct shape *shape);
};

struct held {
    uint32_t resource, permits, token, flags;
};

struct worker {
    struct lb_random *random;
    const struct shape *shape;
    uint32_t log, process;
    uint64_t now;
    uint32_t think, busy, hold, renew_percent;
    struct held held[4];
    uint32_t n_held;
};

static uint64_t pass(struct worker *w, uint32_t most)
{
    w->now += below(w->random, most + 1) * w->shape->tick;
    return w->now;
}

/* An operation; returns how it ended. */
static int operate(struct worker *w, int op, int type, int answer, const struct held *held,
                   uint32_t arg, uint32_t end_arg, int end_flags)
{
    uint64_t from = pass(w, w->think), to = pass(w, w->busy);
    add_op(&history, w->log, op, from, to, type, held->resource, held->token, arg,
           (int)held->flags);
    struct lb_event *end = last_event(&history, w->log);
    if (type != LB_EV_NONE) {
        end->answer = (uint8_t)answer;
        end->arg = end_arg;
        end->flags = (uint8_t)(end->flags | end_flags);
        end[-1].process = end->process = w->process;
    } else {
        end->process = w->process;
    }
    if (type == LB_EV_INFO) {
        w->process += 100;
        w->n_held = 0;
    }
    return type;
}

static int random_end(struct worker *w, uint32_t ok_percent)
{
    if (!w->shape->odd_ends || chance(w->random, w->shape->late ? 95 : ok_percent))
        return LB_EV_OK;
    uint32_t dice = below(w->random, 10);
    return dice < 5 ? LB_EV_FAIL : dice < 8 ? LB_EV_INFO : LB_EV_NONE;
}

static uint32_t draw_token(struct worker *w)
{
    /* Grows with time, most of the time. */
    uint32_t token = (uint32_t)(w->now / w->shape->tick);
    return chance(w->random, 85) ? 10 + token : 10 + below(w->random, 40);
}

static bool take(struct worker *w)
{
    const struct shape *shape = w->shape;
    struct held held = {.resource = below(w->random, shape->resources),
                        .permits = 1 + below(w->random, shape->max_permits),
                        .flags = chance(w->random, shape->shared_percent) ? LB_EVF_SHARED : 0};
    uint32_t lease_ms = shape->lease ? 8 : 0;
    if (shape->tickets) {
        held.token = draw_token(w);
        held.flags |= LB_EVF_TOKEN;
        operate(w, LB_OP_ENQUEUE, LB_EV_OK, LB_OK, &held, 0, 0, 0);
        held.token = 0;
        held.flags &= ~(uint32_t)LB_EVF_TOKEN;
        if (shape->odd_ends && chance(w->random, 10))
            return operate(w, LB_OP_CANCEL, LB_EV_OK, LB_OK, &held, 0, 0, 0) == LB_EV_OK;
    }
    int type = random_end(w, 85);
    if (shape->tokens) {
        held.token = draw_token(w);
        held.flags |= LB_EVF_TOKEN;
    }
    operate(w, LB_OP_ACQUIRE, type, type == LB_EV_FAIL ? LB_BUSY : LB_OK, &held, held.permits,
            lease_ms, 0);
    if (type == LB_EV_OK)
        w->held[w->n_held++] = held;
    return type != LB_EV_NONE;
}

static bool give(struct worker *w)
{
    uint32_t i = below(w->random, w->n_held);
    const struct held held = w->held[i];
    if (w->shape->lease && chance(w->random, w->renew_percent)) {
        int type = random_end(w, 85);
        bool refused = chance(w->random, 50);
        operate(w, LB_OP_RENEW, type,
                type == LB_EV_FAIL ? (refused ? LB_REFUSED : LB_CONFLICT) : LB_OK, &held, 0, 8, 0);
        return type != LB_EV_NONE;
    }
    if (w->shape->writes && chance(w->random, 60)) {
        bool refused = chance(w->random, 20);
        operate(w, LB_OP_WRITE, refused ? LB_EV_FAIL : LB_EV_OK, refused ? LB_REFUSED : LB_OK,
                &held, 0, 0, 0);
        return true;
    }
    int type = random_end(w, w->shape->retry ? 60 : 80);
    bool refused = chance(w->random, 40);
    struct held said = held;
    if (w->shape->bare)
        said.flags = said.permits = 0;
    operate(w, LB_OP_RELEASE, type, type == LB_EV_FAIL ? (refused ? LB_REFUSED : LB_BUSY) : LB_OK,
            &said, said.permits, said.permits, chance(w->random, 90) ? LB_EVF_EFFECTIVE : 0);
    bool listens = !w->shape->retry || chance(w->random, 50);
    if (type == LB_EV_OK || (type == LB_EV_FAIL && refused && listens)) {
        memmove(&w->held[i], &w->held[i + 1], (w->n_held - i - 1) * sizeof w->held[0]);
        w->n_held--;
    }
    return type != LB_EV_NONE;
}

static void generate(const struct shape *shape, struct lb_random *random)
{
    history_init(&history, false);
    for (int i = 0; i < 4; i++)
        history.capacity[i] = shape->capacity;
    history.model.reentrant = shape->reentrant;
    history.model.lease = shape->lease;
    history.model.release = shape->release;
    uint32_t n_logs = 2 + below(random, LOGS - 1),
             most_held = shape->max_permits > 1 || shape->reentrant || shape->bare ? 2 : 1;
    if (shape->late)
        n_logs = 2 + chance(random, 20);
    if (chance(random, 10) && !shape->lease && !shape->tickets)
        most_held = 2; /* one worker, two grants */
    uint32_t think = 1 + below(random, 12), busy = below(random, 5), hold = below(random, 6);
    for (uint32_t log = 0; log < n_logs; log++) {
        struct worker w = {.random = random,
                           .shape = shape,
                           .log = log,
                           .process = log,
                           .think = think,
                           .busy = busy,
                           .hold = hold};
        w.renew_percent = 40;
        pass(&w, shape->late && log == 0 ? 3 : 20);
        if (shape->late && log == 0) {
            w.renew_percent = 3;
            w.hold = 24;
        } else if (shape->late) {
            w.now = 9 * shape->tick;
            w.hold = 12;
            pass(&w, 5);
        }
        for (uint32_t n = 1 + below(random, 5); n > 0; n--) {
            bool more = w.n_held == 0 || (w.n_held < most_held && chance(random, 30));
            if (shape->retry && w.n_held == 1 && most_held == 1 && chance(random, 15))
                more = true; /* it takes another, as if it had given the first one back */
            w.think = more ? think : w.hold;
            if (!(more ? take(&w) : give(&w)))
                break;
        }
    }
    history.model.end_ns = 0;
}

/* --- from a history to operations --- */

enum kind { ACQUIRE, RELEASE, RENEW, EXPIRE, WRITE, LEAVE };

struct grant {
    uint32_t log, resource, permits, token;
    bool shared, open;  /* open: it can be released still */
    bool is_lapsed;     /* its worker's connection was lost */
    bool believed;      /* the core has not ended */
    uint32_t lapsed;    /* its end when the connection was lost: place in brute.ops + 1; 0: none */
    uint64_t low, high; /* of its acquire */
    uint64_t expiry_high;
    const struct lb_event *acquired;
};

/* A release that had an effect: of which grant, if any, and whether that had ended before. */
struct effect {
    const struct lb_event *invoke, *end;
    const struct grant *grant;
    bool was_over;
};

struct translation {
    struct grant grants[BRUTE_OPS];
    uint32_t n;
    struct effect effects[BRUTE_OPS];
    uint32_t n_effects;
};

static struct translation translation;

/* A worker may hold something that it was not told of. */
static bool has_unknown_grant[MAX_LOGS];

/* The place in its log of the operation that is being translated, from 1. */
static uint32_t place_now;

static bool is_end(const struct lb_event *e)
{
    return e->type >= LB_EV_OK && e->type <= LB_EV_INFO;
}

static void add_brute(int kind, uint32_t who, uint64_t low, uint64_t high, bool optional,
                      uint64_t a, uint64_t b)
{
    brute_add(&brute, (struct brute_op){.low = low,
                                        .high = high,
                                        .optional = optional,
                                        .kind = kind,
                                        .who = who,
                                        .a = a,
                                        .b = b,
                                        .place = place_now});
}

static uint64_t lease_low(uint64_t low, uint32_t ms)
{
    return low + ms * UINT64_C(1000000) - (1000000 + ms * UINT64_C(1000));
}

static uint64_t lease_high(uint64_t high, uint32_t ms)
{
    return high + ms * UINT64_C(1000000) + (1000000 + ms * UINT64_C(1000));
}

/* The belief in a grant ends: it may be gone from low on. */
static void end_belief(struct grant *grant, uint64_t low)
{
    if (grant->believed)
        add_brute(RELEASE, (uint32_t)(grant - translation.grants), low, UINT64_MAX, true, 0, 0);
    grant->believed = false;
}

/* The worker lost its connection, and with it all that it held. */
static void lapse(struct grant *grant, uint32_t log, uint64_t low)
{
    if (grant->log != log || !grant->open || !grant->believed)
        return;
    end_belief(grant, low);
    grant->lapsed = brute.n;
}

/* Which of the equally good grants each release that does not say it is taken to be of. */
static uint32_t choices[BRUTE_OPS], n_choices, n_open[BRUTE_OPS];

static bool says_words(const struct lb_event *invoke)
{
    return invoke->op != LB_OP_RELEASE || invoke->arg > 0;
}

static bool fits(const struct grant *g, const struct lb_event *invoke)
{
    return invoke->op != LB_OP_RELEASE ||
           (g->permits == invoke->arg && g->shared == ((invoke->flags & LB_EVF_SHARED) != 0));
}

/* The grant that an operation speaks of: by its token; by what it says of permits and mode; of
 * those that are left, first the ones that are believed in, and the newest. */
static struct grant *newest_grant(uint32_t log, const struct lb_event *invoke, bool by_token)
{
    for (int round = 0; round < 4; round++) {
        bool exact = round < 2, believed = round % 2 == 0;
        for (uint32_t i = translation.n; i-- > 0;) {
            struct grant *g = &translation.grants[i];
            if (g->log != log || g->resource != invoke->object || !g->open ||
                believed != g->believed || (by_token && g->token != invoke->value) ||
                (exact && says_words(invoke) && !fits(g, invoke)))
                continue;
            return g;
        }
    }
    return NULL;
}

/* The grant that a release is of, if it may be of several: the next of the choices. */
static struct grant *chosen_grant(uint32_t log, const struct lb_event *invoke, struct grant *newest)
{
    uint32_t n = 0;
    struct grant *all[BRUTE_OPS];
    bool differ = false;
    if (newest == NULL || !newest->believed || invoke->op != LB_OP_RELEASE || says_words(invoke) ||
        (invoke->flags & LB_EVF_TOKEN) != 0)
        return newest;
    for (uint32_t i = translation.n; i-- > 0;) {
        struct grant *g = &translation.grants[i];
        if (g->log != log || g->resource != invoke->object || !g->open || !g->believed)
            continue;
        differ = differ || g->permits != newest->permits || g->shared != newest->shared;
        all[n++] = g;
    }
    if (!differ)
        return newest;
    n_open[n_choices] = n;
    return all[choices[n_choices++] % n];
}

static void translate_acquire(const struct shape *shape, uint32_t log,
                              const struct lb_event *invoke, const struct lb_event *end)
{
    has_unknown_grant[log] = has_unknown_grant[log] || end == NULL || end->type == LB_EV_INFO;
    if (end == NULL || end->type != LB_EV_OK)
        return; /* an unknown grant forces nothing */
    struct grant *g = &translation.grants[translation.n++];
    *g = (struct grant){.log = log,
                        .resource = invoke->object,
                        .permits = invoke->arg,
                        .token = (uint32_t)end->value,
                        .shared = (invoke->flags & LB_EVF_SHARED) != 0,
                        .open = true,
                        .believed = true,
                        .low = invoke->time_ns,
                        .high = end->time_ns,
                        .expiry_high = UINT64_MAX,
                        .acquired = end};
    uint32_t who = translation.n - 1;
    add_brute(ACQUIRE, who, invoke->time_ns, end->time_ns, false, 0, 0);
    if (shape->lease) {
        add_brute(EXPIRE, who, lease_low(invoke->time_ns, end->arg), UINT64_MAX, true, 0, 0);
        g->expiry_high = lease_high(end->time_ns, end->arg);
    }
}

/* All that the worker may have of the resource are of one kind, and lapsed. */
static bool is_of_no_other(const struct grant *g, const struct lb_event *invoke)
{
    if (has_unknown_grant[g->log] || (says_words(invoke) && !fits(g, invoke)))
        return false;
    for (uint32_t i = 0; i < translation.n; i++) {
        const struct grant *other = &translation.grants[i];
        if (other->log == g->log && other->resource == g->resource && other->open &&
            (other->lapsed == 0 || other->permits != g->permits || other->shared != g->shared))
            return false;
    }
    return true;
}

static void translate_release(const struct shape *shape, struct grant *g,
                              const struct lb_event *invoke, const struct lb_event *end,
                              uint32_t log)
{
    bool effective = end != NULL && end->type == LB_EV_OK && (end->flags & LB_EVF_EFFECTIVE) != 0;
    struct effect *effect = &translation.effects[translation.n_effects];
    if (effective && (g != NULL || !has_unknown_grant[log]))
        translation.n_effects++;
    *effect = (struct effect){invoke, end, g, g != NULL && !g->believed};
    if (g == NULL)
        return;
    uint32_t who = (uint32_t)(g - translation.grants);
    if (end != NULL && end->type == LB_EV_OK) {
        /* It had lost its connection, and yet has something to give back: it went on. */
        bool went_on = g->lapsed != 0 && (end->flags & LB_EVF_EFFECTIVE) != 0 &&
                       ((invoke->flags & LB_EVF_TOKEN) != 0 || is_of_no_other(g, invoke));
        if (went_on)
            brute.ops[g->lapsed - 1].low = UINT64_MAX;
        effect->was_over = effect->was_over && !went_on;
        if (g->believed || went_on)
            add_brute(RELEASE, who, invoke->time_ns, end->time_ns, shape->lease, 0, 0);
        g->open = g->believed = false;
        return;
    }
    bool refused = end != NULL && end->type == LB_EV_FAIL && end->answer == LB_REFUSED;
    bool failed = end != NULL && end->type == LB_EV_FAIL;
    if (failed && !refused && shape->release == LB_RELEASE_STATE)
        return;
    end_belief(g, invoke->time_ns);
    if (refused)
        g->open = false;
}

static void translate_renew(struct grant *g, const struct lb_event *invoke,
                            const struct lb_event *end, uint32_t number)
{
    if (g == NULL || end == NULL)
        return;
    uint32_t who = (uint32_t)(g - translation.grants);
    if (end->type == LB_EV_OK && g->believed) {
        add_brute(RENEW, who, invoke->time_ns, end->time_ns, false, number, 0);
        add_brute(EXPIRE, who, lease_low(invoke->time_ns, end->arg), UINT64_MAX, true, number, 0);
        if (lease_high(end->time_ns, end->arg) > g->expiry_high || g->expiry_high == UINT64_MAX)
            g->expiry_high = lease_high(end->time_ns, end->arg);
    }
    if (end->type == LB_EV_FAIL && end->answer == LB_REFUSED)
        end_belief(g, invoke->time_ns);
}

/* The holds of all logs, as operations. */
static void translate_holds(const struct shape *shape)
{
    brute.n = 0;
    translation.n = 0;
    translation.n_effects = 0;
    n_choices = 0;
    memset(has_unknown_grant, 0, sizeof has_unknown_grant);
    uint32_t n_renewals = 0;
    for (uint32_t log = 0; log < MAX_LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *invoke = &history.events[log][i];
            if (invoke->type != LB_EV_INVOKE)
                continue;
            place_now = (uint32_t)i + 1;
            const struct lb_event *end =
                i + 1 < history.n[log] && is_end(invoke + 1) ? invoke + 1 : NULL;
            bool token = (invoke->flags & LB_EVF_TOKEN) != 0;
            struct grant *g = chosen_grant(log, invoke, newest_grant(log, invoke, token));
            if (invoke->op == LB_OP_ACQUIRE)
                translate_acquire(shape, log, invoke, end);
            else if (invoke->op == LB_OP_RELEASE)
                translate_release(shape, g, invoke, end, log);
            else if (invoke->op == LB_OP_RENEW)
                translate_renew(g, invoke, end, ++n_renewals);
            if (end != NULL && end->type == LB_EV_INFO)
                for (uint32_t k = 0; k < translation.n; k++)
                    lapse(&translation.grants[k], log, invoke->time_ns);
        }
    place_now = 0;
}

/* What a log did, it did one after another. */
static void keep_log_order(void)
{
    for (uint32_t i = 0; i < brute.n; i++)
        brute.ops[i].log = translation.grants[brute.ops[i].who].log + 1;
}

/* --- the models: is there a legal order? --- */

/* state: which grants are held */
static bool step_holds(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    const struct shape *shape = b->context;
    const struct grant *g = &translation.grants[op->who];
    uint64_t bit = UINT64_C(1) << op->who;
    if (op->kind == RELEASE) {
        if ((*state & bit) == 0)
            return false;
        *state &= ~bit;
        return true;
    }
    uint64_t permits = g->shared ? 0 : g->permits;
    for (uint32_t i = 0; i < translation.n; i++) {
        const struct grant *other = &translation.grants[i];
        if ((*state >> i & 1) == 0 || other->resource != g->resource)
            continue;
        if (g->shared != other->shared)
            return false;
        permits += other->shared ? 0 : other->permits;
    }
    *state |= bit;
    return permits <= shape->capacity;
}

/* Resources are judged one by one: what a worker did within a tick is in order on each of them. */
static void keep_resource(uint32_t resource)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < brute.n; i++)
        if (translation.grants[brute.ops[i].who].resource == resource)
            brute.ops[kept++] = brute.ops[i];
    brute.n = kept;
}

/* The next way to choose; false: all were tried. */
static bool choose_next(void)
{
    for (uint32_t i = 0; i < n_choices; i++) {
        if (++choices[i] < n_open[i])
            return true;
        choices[i] = 0;
    }
    return false;
}

/* Legal if any of what the releases may have been of is. */
static bool legal_holds(const struct shape *shape)
{
    memset(choices, 0, sizeof choices);
    do {
        bool all = true;
        for (uint32_t i = 0; i < shape->resources && all; i++) {
            translate_holds(shape);
            keep_log_order();
            keep_resource(i);
            brute.step = step_holds;
            brute.context = shape;
            all = brute_legal(&brute);
        }
        if (all)
            return true;
    } while (choose_next());
    return false;
}

/* state: owner's log + 1, and depth * 16 */
static bool step_reentrant(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    uint64_t owner = *state & 15, depth = *state >> 4, me = translation.grants[op->who].log + 1;
    if (op->kind == ACQUIRE) {
        if (owner != 0 && owner != me)
            return false;
        *state = me | (depth + 1) << 4;
        return true;
    }
    if (owner != me)
        return false;
    *state = depth == 1 ? 0 : me | (depth - 1) << 4;
    return true;
}

static bool legal_reentrant(const struct shape *shape)
{
    translate_holds(shape);
    keep_log_order();
    brute.step = step_reentrant;
    return brute_legal(&brute);
}

/* state: who holds it + 1, and the number of the lease * 256 */
static bool step_lease(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    uint64_t who = *state & 255, me = op->who + 1;
    switch (op->kind) {
    case ACQUIRE:
        if (who != 0)
            return false;
        *state = me;
        return true;
    case RENEW: /* it may have been over, but nobody else may have it now */
        if (who != 0 && who != me)
            return false;
        *state = me | op->a << 8;
        return true;
    case EXPIRE:
        if (*state != (me | op->a << 8))
            return false;
        *state = 0;
        return true;
    default:
        if (who == me)
            *state = 0;
        return true;
    }
}

static bool legal_lease(const struct shape *shape)
{
    translate_holds(shape);
    keep_log_order();
    brute.step = step_lease;
    return brute_legal(&brute);
}

/* As for leases; and a late release finds nobody else as the owner. */
static bool step_owner(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    uint64_t who = *state & 255;
    if (op->kind == LEAVE) /* the release in question */
        return who == 0 || who == op->who + 1;
    return step_lease(b, op, state);
}

/* Releases with effect of what had ended before: legal if, of the orders of what had happened by
 * then in which the lock excluded, one has no other owner at the release, or if there are no such
 * orders. Of nothing: never. */
static bool legal_owner(const struct shape *shape)
{
    memset(choices, 0, sizeof choices);
    translate_holds(shape);
    for (uint32_t i = 0, n = translation.n_effects; i < n; i++) {
        translate_holds(shape);
        keep_log_order();
        const struct effect *e = &translation.effects[i];
        if (e->grant == NULL)
            return false;
        if (!e->was_over && e->grant->expiry_high >= e->invoke->time_ns)
            continue;
        brute_cut(&brute, e->end->time_ns, e->grant->log + 1,
                  (uint32_t)(e->invoke - history.events[e->grant->log]) + 1);
        brute.step = step_lease;
        if (!brute_legal(&brute))
            continue;
        add_brute(LEAVE, (uint32_t)(e->grant - translation.grants), e->invoke->time_ns,
                  e->end->time_ns, false, 0, 0);
        brute.step = step_owner;
        if (!brute_legal(&brute))
            return false;
    }
    return true;
}

/* state: the last token + 1 */
static bool step_tokens(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    if (op->kind == WRITE ? op->a + 1 < *state : op->a + 1 <= *state)
        return false;
    *state = op->a + 1;
    return true;
}

static bool legal_tokens_of(const struct shape *shape, int which)
{
    for (uint32_t resource = 0; resource < shape->resources; resource++) {
        brute.n = 0;
        for (uint32_t log = 0; log < MAX_LOGS; log++)
            for (size_t i = 1; i < history.n[log]; i++) {
                const struct lb_event *end = &history.events[log][i];
                if (end->op != which || end->type != LB_EV_OK || end->object != resource)
                    continue;
                add_brute(which == LB_OP_WRITE ? WRITE : ACQUIRE, 0, end[-1].time_ns, end->time_ns,
                          false, end->value, 0);
                brute.ops[brute.n - 1].log = log + 1;
            }
        brute.step = step_tokens;
        if (!brute_legal(&brute))
            return false;
    }
    return true;
}

static bool legal_tokens(const struct shape *shape)
{
    return legal_tokens_of(shape, LB_OP_ACQUIRE) &&
           (!shape->writes || legal_tokens_of(shape, LB_OP_WRITE));
}

/* --- refusals: each must have an order in which the lock is held when it is refused --- */

static bool step_refused(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    return op->kind == WRITE ? *state != 0 : step_holds(b, op, state);
}

/* One refused try, as the only one. */
static bool legal_refusal(const struct shape *shape, uint32_t log, size_t i)
{
    const struct lb_event *end = &history.events[log][i];
    translate_holds(shape);
    for (uint32_t k = 0; k < MAX_LOGS; k++) /* what may have been granted, may be what refuses */
        for (size_t n = 0; n < history.n[k]; n++) {
            const struct lb_event *invoke = &history.events[k][n];
            if (invoke->op != LB_OP_ACQUIRE || invoke->type != LB_EV_INVOKE ||
                invoke->object != end->object)
                continue;
            bool ended = n + 1 < history.n[k] && is_end(invoke + 1);
            if (!ended || invoke[1].type == LB_EV_INFO)
                if (invoke->time_ns <= end->time_ns)
                    return true;
        }
    uint32_t kept = 0; /* other resources have nothing to do with it */
    for (uint32_t k = 0; k < brute.n; k++)
        if (translation.grants[brute.ops[k].who].resource == end->object)
            brute.ops[kept++] = brute.ops[k];
    brute.n = kept;
    add_brute(WRITE, 0, end[-1].time_ns, end->time_ns, false, 0, 0);
    brute.step = step_refused;
    brute.context = shape;
    return brute_legal(&brute);
}

/* Where the lock did not exclude, nothing is said of its refusals. */
static bool legal_refusals(const struct shape *shape)
{
    if (!legal_holds(shape))
        return true;
    for (uint32_t log = 0; log < MAX_LOGS; log++)
        for (size_t i = 1; i < history.n[log]; i++) {
            const struct lb_event *end = &history.events[log][i];
            if (end->op == LB_OP_ACQUIRE && end->type == LB_EV_FAIL && end->answer == LB_BUSY &&
                !legal_refusal(shape, log, i))
                return false;
        }
    return true;
}

/* --- tickets: state holds two bits a waiter: 0 waits, 1 holds, 2 has left --- */

static uint32_t n_tickets;
static uint64_t tickets[BRUTE_OPS];
static bool ticket_shared[BRUTE_OPS];

static bool step_line(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    const struct shape *shape = b->context;
    uint32_t waiting = 0, writers = 0, ahead = 0;
    if (op->kind == LEAVE) {
        *state = (*state & ~(UINT64_C(3) << 2 * op->who)) | UINT64_C(2) << 2 * op->who;
        return true;
    }
    if ((*state >> 2 * op->who & 3) != 0)
        return false;
    for (uint32_t i = 0; i < n_tickets; i++) {
        uint64_t s = *state >> 2 * i & 3;
        if (tickets[i] >= tickets[op->who] || s == 2)
            continue;
        ahead++;
        waiting += s == 0;
        writers += s == 0 && !ticket_shared[i];
    }
    *state |= UINT64_C(1) << 2 * op->who;
    return ticket_shared[op->who] ? writers == 0 : waiting == 0 || ahead < shape->capacity;
}

/* One log's requests on one resource: a ticket, then at most one grant or cancel, then a release.
 */
static void translate_line(uint32_t log, uint32_t resource)
{
    uint32_t me = UINT32_MAX; /* the place that log has in line */
    uint32_t first = brute.n;
    bool granted = false;
    for (size_t i = 0; i < history.n[log]; i++) {
        const struct lb_event *invoke = &history.events[log][i];
        const struct lb_event *end =
            i + 1 < history.n[log] && is_end(invoke + 1) ? invoke + 1 : NULL;
        if (invoke->type != LB_EV_INVOKE)
            continue;
        bool here = invoke->object == resource;
        if (invoke->op == LB_OP_ENQUEUE && end != NULL && end->type == LB_EV_OK) {
            if (me != UINT32_MAX && !granted)
                add_brute(LEAVE, me, invoke->time_ns, UINT64_MAX, true, 0, 0);
            me = UINT32_MAX;
            granted = false;
            if (!here)
                continue;
            me = n_tickets++;
            tickets[me] = end->value;
            ticket_shared[me] = (end->flags & LB_EVF_SHARED) != 0;
        }
        if (me == UINT32_MAX)
            continue;
        bool ok = end != NULL && end->type == LB_EV_OK;
        if (invoke->op == LB_OP_ACQUIRE && here && ok && !granted) {
            add_brute(ACQUIRE, me, invoke->time_ns, end->time_ns, false, 0, 0);
            granted = true;
        } else if (!granted &&
                   (invoke->op == LB_OP_CANCEL || (end == NULL && invoke->op == LB_OP_ACQUIRE))) {
            add_brute(LEAVE, me, invoke->time_ns, UINT64_MAX, true, 0, 0);
            me = UINT32_MAX;
        } else if (granted && invoke->op == LB_OP_RELEASE && here) {
            add_brute(LEAVE, me, invoke->time_ns, UINT64_MAX, true, 0, 0);
            me = UINT32_MAX;
        }
        if (me != UINT32_MAX && end != NULL && end->type == LB_EV_INFO) {
            add_brute(LEAVE, me, invoke->time_ns, UINT64_MAX, true, 0, 0);
            me = UINT32_MAX;
        }
    }
    for (; first < brute.n; first++)
        brute.ops[first].log = log + 1;
}

static bool legal_line(const struct shape *shape)
{
    for (uint32_t resource = 0; resource < shape->resources; resource++) {
        brute.n = n_tickets = 0;
        for (uint32_t log = 0; log < MAX_LOGS; log++)
            translate_line(log, resource);
        brute.step = step_line;
        brute.context = shape;
        if (!brute_legal(&brute))
            return false;
    }
    return true;
}

/* --- the comparison --- */

static bool judge_legal(const struct shape *shape)
{
    struct lb_error err = {0};
    if (judge_history(&history, &judgement, &err) != 0) {
        print_history(&history);
        fail_msg("lb_check: %s", err.message);
    }
    if (shape->legal == legal_refusals)
        return judgement.findings[LB_G_EXCLUSIVE].n_violations > 0 ||
               judgement.measures.n_refusals_unjustified == 0;
    return judgement.findings[shape->guarantee].n_violations == 0;
}

/* Histories of which the judge says that it cannot tell. */
static uint64_t n_untold;

static bool compare(const struct shape *shape)
{
    bool expected = shape->legal(shape), got = judge_legal(shape);
    if (expected == got || (shape->sound_only && !expected))
        return expected;
    if (!expected && shape->legal != legal_refusals &&
        judgement.findings[shape->guarantee].verdict == LB_V_NOT_TESTED &&
        judgement.findings[shape->guarantee].n_tested > 0) {
        n_untold++;
        return expected;
    }
    print_disagreement(&history, &brute);
    fail_msg("%s: %s by search, %s by the judge (%s); seed %llu", shape->name,
             expected ? "legal" : "illegal", got ? "legal" : "illegal",
             judgement.findings[shape->guarantee].witness[0].text, (unsigned long long)seed);
    return got;
}

/* What is missing excuses: nothing is violated in a part of what is legal. */
static void compare_cut(const struct shape *shape)
{
    if (judge_legal(shape))
        return;
    print_history(&history);
    fail_msg("%s: violated in a part of a legal history (%s), of which nothing is missing before "
             "%llu; seed %llu",
             shape->name, judgement.findings[shape->guarantee].witness[0].text,
             (unsigned long long)history.view.whole_ns, (unsigned long long)seed);
}

/* Of leases, lines, readers and several permits the search knows only workers that have one thing,
 * or place, at a time, and give back what they took: it keeps what a worker does within a tick in
 * order, which for the judge is concurrent, and takes no release for that of other permits. */
static void agree(void **state)
{
    const struct shape *shape = *state;
    n_untold = 0;
    struct tally tally = compare_histories(
        &(struct comparison){.name = shape->name,
                             .shape = shape,
                             .history = &history,
                             .seed = seed,
                             .tick = shape->tick,
                             .generate = generate,
                             .keep_deeds = shape->lease || shape->tickets ||
                                           shape->shared_percent > 0 || shape->max_permits > 1,
                             .compare = compare,
                             .compare_cut = shape->legal != legal_refusals ? compare_cut : NULL});
    if (n_untold > 0)
        printf("# %s: of %llu illegal histories the judge could not tell\n", shape->name,
               (unsigned long long)n_untold);
    if (!tally_is_fair(&tally) || n_untold * 100 > tally.n)
        fail_msg("%s: the histories are too one-sided to tell", shape->name);
}

static struct shape shapes[] = {
    {.name = "mutex",
     .capacity = 1,
     .max_permits = 1,
     .resources = 2,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "mutex by state",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .odd_ends = true,
     .tick = 1,
     .release = LB_RELEASE_STATE,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "semaphore",
     .capacity = 2,
     .max_permits = 1,
     .resources = 1,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "weighted semaphore",
     .capacity = 3,
     .max_permits = 3,
     .resources = 1,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "readers and writers",
     .capacity = 1,
     .max_permits = 1,
     .shared_percent = 50,
     .resources = 1,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "some writers",
     .capacity = 2,
     .max_permits = 2,
     .shared_percent = 30,
     .resources = 1,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "bare mutex",
     .capacity = 1,
     .max_permits = 1,
     .resources = 2,
     .bare = true,
     .retry = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "bare readers and writers",
     .capacity = 1,
     .max_permits = 1,
     .shared_percent = 50,
     .resources = 1,
     .bare = true,
     .retry = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "bare readers and writers by state",
     .capacity = 1,
     .max_permits = 1,
     .shared_percent = 60,
     .resources = 1,
     .bare = true,
     .retry = true,
     .odd_ends = true,
     .tick = 1,
     .release = LB_RELEASE_STATE,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "bare weighted semaphore",
     .capacity = 3,
     .max_permits = 3,
     .resources = 1,
     .bare = true,
     .retry = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "bare readers beside two writers",
     .capacity = 2,
     .max_permits = 2,
     .shared_percent = 30,
     .resources = 1,
     .bare = true,
     .retry = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "owner of a mutex",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .retry = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owner},
    {.name = "owner of a mutex by state",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .retry = true,
     .odd_ends = true,
     .tick = 1,
     .release = LB_RELEASE_STATE,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owner},
    {.name = "reentrant",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .reentrant = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_reentrant},
    {.name = "lease",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .lease = true,
     .odd_ends = true,
     .tokens = true,
     .tick = MS,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_lease},
    {.name = "owner of a lease",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .lease = true,
     .late = true,
     .tokens = true,
     .odd_ends = true,
     .tick = MS,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owner},
    {.name = "fences",
     .capacity = 1,
     .max_permits = 1,
     .resources = 2,
     .tokens = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_FENCED,
     .legal = legal_tokens},
    {.name = "writes",
     .capacity = 1,
     .max_permits = 1,
     .resources = 2,
     .tokens = true,
     .writes = true,
     .tick = 1,
     .guarantee = LB_G_FENCED,
     .legal = legal_tokens},
    {.name = "busy",
     .capacity = 1,
     .max_permits = 1,
     .resources = 2,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_refusals},
    {.name = "line",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .tickets = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_line},
    {.name = "two in line",
     .capacity = 2,
     .max_permits = 1,
     .resources = 1,
     .tickets = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_line},
    {.name = "readers in line",
     .capacity = 1,
     .max_permits = 1,
     .shared_percent = 60,
     .resources = 1,
     .tickets = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_line},
    {.name = "all in line",
     .sound_only = true,
     .capacity = 2,
     .max_permits = 1,
     .shared_percent = 30,
     .resources = 2,
     .tickets = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_line},
};

int main(void)
{
    enum { N = sizeof shapes / sizeof shapes[0] };
    struct CMUnitTest tests[N];
    for (size_t i = 0; i < N; i++)
        tests[i] = (struct CMUnitTest){
            .name = shapes[i].name, .test_func = agree, .initial_state = &shapes[i]};
    seed = lb_test_seed();
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
