/* From a history to operations that can be put in order: each with the earliest and latest moment
 * at which it can have taken place. */
#include "lock_search.h"

struct translation translation;

/* A worker may hold something that it was not told of. */
static bool has_unknown_grant[MAX_LOGS][4]; /* by log and resource */

/* The place in its log of the operation that is being translated, from 1. */
static uint32_t place_now;

bool is_end(const struct lb_event *e)
{
    return e->type >= LB_EV_OK && e->type <= LB_EV_INFO;
}

void add_brute(int kind, uint32_t who, uint64_t low, uint64_t high, bool optional, uint64_t a,
               uint64_t b)
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

uint32_t choices[BRUTE_OPS], n_choices, n_open[BRUTE_OPS];

static bool says_words(const struct lb_event *invoke)
{
    return invoke->op != LB_OP_RELEASE || invoke->arg > 0;
}

static bool fits(const struct grant *g, const struct lb_event *invoke)
{
    return invoke->op != LB_OP_RELEASE ||
           (g->permits == invoke->arg && g->shared == ((invoke->flags & LB_EVF_SHARED) != 0));
}

/* The grant that an operation refers to: by its token, if a grant has it; by its permits and mode;
 * of the remaining ones, first those that their worker believes in, and the newest. */
static struct grant *newest_grant(uint32_t log, const struct lb_event *invoke)
{
    const bool says_token = (invoke->flags & LB_EVF_TOKEN) != 0;
    for (int round = says_token ? 0 : 4; round < 8; round++) {
        bool by_token = round < 4, exact = round % 4 < 2, believed = round % 2 == 0;
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
    if (end == NULL || end->type == LB_EV_INFO)
        has_unknown_grant[log][invoke->object] = true;
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
    g->expiry_low = UINT64_MAX;
    if (shape->lease && end->arg > 0) {
        add_brute(EXPIRE, who, lease_low(invoke->time_ns, end->arg), UINT64_MAX, true, 0, 0);
        g->expiry_low = lease_low(invoke->time_ns, end->arg);
        g->expiry_high = lease_high(end->time_ns, end->arg);
    }
}

/* All that the worker may have of the resource are of one kind, and lapsed. */
static bool is_of_no_other(const struct grant *g, const struct lb_event *invoke)
{
    if (has_unknown_grant[g->log][g->resource] || (says_words(invoke) && !fits(g, invoke)))
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
    if (effective && (g != NULL || !has_unknown_grant[log][invoke->object]))
        translation.n_effects++;
    *effect = (struct effect){invoke, end, g, g != NULL && !g->believed,
                              !has_unknown_grant[log][invoke->object]};
    for (uint32_t i = 0; i < translation.n; i++) {
        const struct grant *other = &translation.grants[i];
        if (other != g && other->log == log && other->resource == invoke->object &&
            (other->acquired->flags & LB_EVF_COMMITTED) != 0)
            effect->is_sure = false;
    }
    if (g == NULL)
        return;
    uint32_t who = (uint32_t)(g - translation.grants);
    if (end != NULL && end->type == LB_EV_OK) {
        /* It had lost its connection, and yet has something to give back: it went on. */
        bool went_on = g->lapsed != 0 && (end->flags & LB_EVF_EFFECTIVE) != 0 &&
                       ((invoke->flags & LB_EVF_TOKEN) != 0 ? g->token == invoke->value
                                                            : is_of_no_other(g, invoke));
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
    if (g == NULL)
        return;
    uint32_t who = (uint32_t)(g - translation.grants);
    if (end == NULL || end->type == LB_EV_INFO) {
        uint64_t low = invoke->arg > 0 ? lease_low(invoke->time_ns, invoke->arg) : invoke->time_ns;
        g->expiry_high = UINT64_MAX;
        if (g->believed)
            add_brute(EXPIRE, who, low, UINT64_MAX, true, g->n_renewals, 0);
        return;
    }
    if (end->type == LB_EV_OK && g->believed) {
        uint32_t length = end->arg > 0 ? end->arg : invoke->arg;
        bool is_told = length > 0; /* else it was at least as long as before, but unknown */
        uint64_t low = is_told ? lease_low(invoke->time_ns, length) : invoke->time_ns;
        uint64_t high = is_told ? lease_high(end->time_ns, length) : UINT64_MAX;
        g->expiry_low = is_told || low > g->expiry_low ? low : g->expiry_low;
        g->expiry_high = high;
        g->n_renewals = number;
        add_brute(RENEW, who, invoke->time_ns, end->time_ns, false, number, 0);
        if (g->expiry_low != UINT64_MAX)
            add_brute(EXPIRE, who, g->expiry_low, UINT64_MAX, true, number, 0);
    }
    if (end->type == LB_EV_FAIL && end->answer == LB_REFUSED)
        end_belief(g, invoke->time_ns);
}

void translate_holds(const struct shape *shape)
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
            struct grant *g = chosen_grant(log, invoke, newest_grant(log, invoke));
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

/* When the last operation was asked for that a log had been answered before an event of it, or
 * before a time. */
static uint64_t answered_before(uint32_t log, size_t before, uint64_t time)
{
    uint64_t asked = 0, last = 0;
    for (size_t i = 0; i < before && i < history.n[log]; i++) {
        const struct lb_event *e = &history.events[log][i];
        asked = e->type == LB_EV_INVOKE ? e->time_ns : asked;
        last = (e->type == LB_EV_OK || e->type == LB_EV_FAIL) && e->time_ns < time ? asked : last;
    }
    return last;
}

/* From when on the session of which a note speaks may have ended: it was there for what it had
 * answered; and after its previous end. */
static uint64_t ended_from(uint32_t log, size_t at)
{
    const struct lb_event *e = &history.events[log][at];
    uint32_t worker = e->arg;
    uint64_t low = log == worker ? answered_before(log, at, UINT64_MAX)
                                 : answered_before(worker, SIZE_MAX, e->time_ns);
    for (uint32_t l = 0; l < MAX_LOGS; l++)
        for (size_t i = 0; i < history.n[l]; i++) {
            const struct lb_event *other = &history.events[l][i];
            if (other->type == LB_EV_NOTE && other->op == LB_OP_SESSION_END &&
                other->arg == worker && other->time_ns < e->time_ns && other->time_ns > low)
                low = other->time_ns;
        }
    return low;
}

/* The number of the last renewal of the session that a note refers to: later requests of its worker
 * belong to another session. */
static uint32_t renewed_before(uint32_t log, size_t at)
{
    const struct lb_event *note = &history.events[log][at];
    uint32_t n = 0;
    for (uint32_t l = 0; l <= note->arg && l < MAX_LOGS; l++)
        for (size_t i = 0; i < history.n[l]; i++) {
            const struct lb_event *e = &history.events[l][i];
            bool is_before = l != note->arg || (log == l ? e < note : e->time_ns <= note->time_ns);
            n += e->op == LB_OP_RENEW && e->type == LB_EV_INVOKE && is_before;
        }
    return n;
}

void translate_sessions(void)
{
    for (uint32_t log = 0; log < MAX_LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *e = &history.events[log][i];
            if (e->type != LB_EV_NOTE || e->op != LB_OP_SESSION_END)
                continue;
            uint64_t low = ended_from(log, i);
            uint32_t renewed = renewed_before(log, i);
            for (uint32_t k = 0; k < translation.n; k++) {
                struct grant *g = &translation.grants[k];
                if ((g->acquired->flags & LB_EVF_COMMITTED) != 0)
                    continue;
                if (g->log != e->arg || (log == e->arg ? g->acquired > e : g->low > e->time_ns))
                    continue;
                g->is_lost = true;
                add_brute(GONE, k, low > g->low ? low : g->low, UINT64_MAX, true, renewed, 0);
            }
        }
}

/* The end of a session is no worker's operation. */
void keep_log_order(void)
{
    for (uint32_t i = 0; i < brute.n; i++)
        if (brute.ops[i].kind != GONE)
            brute.ops[i].log = translation.grants[brute.ops[i].who].log + 1;
}
