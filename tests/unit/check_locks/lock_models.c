/* The models of a lock: for each question, which orders of operations are legal. */
#include "lock_search.h"

#include <stdlib.h>

/* state: which grants are held */
static bool step_holds(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    const struct shape *shape = b->context;
    const struct grant *g = &translation.grants[op->who];
    uint64_t bit = UINT64_C(1) << op->who;
    if (op->kind == GONE) {
        *state &= ~bit;
        return true;
    }
    if (op->kind == RELEASE) {
        if ((*state & bit) == 0)
            return g->is_lost;
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

/* Resources are judged one by one: a worker's operations within a tick are in order on each of
 * them. */
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

bool legal_holds(const struct shape *shape)
{
    memset(choices, 0, sizeof choices);
    do {
        bool all = true;
        for (uint32_t i = 0; i < shape->resources && all; i++) {
            translate_holds(shape);
            translate_sessions();
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

bool legal_reentrant(const struct shape *shape)
{
    translate_holds(shape);
    keep_log_order();
    brute.step = step_reentrant;
    return brute_legal(&brute);
}

/* state: the holder + 1, and the number of the lease * 256 */
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
    case RENEW: /* it may have been over, but no other worker may have it now */
        if (who != 0 && who != me)
            return false;
        *state = me | op->a << 8;
        return true;
    case EXPIRE:
        if (*state != (me | op->a << 8))
            return false;
        *state = 0;
        return true;
    case GONE:
        if (who == me && *state >> 8 <= op->a)
            *state = 0;
        return true;
    default:
        if (who == me)
            *state = 0;
        return true;
    }
}

bool legal_lease(const struct shape *shape)
{
    translate_holds(shape);
    translate_sessions();
    keep_log_order();
    brute.step = step_lease;
    return brute_legal(&brute);
}

/* As for leases; and a late release finds no other owner. */
static bool step_owner(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    uint64_t who = *state & 255;
    if (op->kind == LEAVE) /* the release in question */
        return who == 0 || who == op->who + 1;
    return step_lease(b, op, state);
}

/* Had another noted, after the grant and before the release, that the session had ended? And it was
 * not renewed since: then its worker had nothing. */
static bool had_ended(const struct effect *effect)
{
    const struct grant *g = effect->grant;
    bool found = false;
    for (uint32_t l = 0; l < MAX_LOGS; l++)
        for (size_t i = 0; i < history.n[l]; i++) {
            const struct lb_event *note = &history.events[l][i];
            bool is_said = l != g->log && note->op == LB_OP_SESSION_END && note->arg == g->log &&
                           note->time_ns > g->high && note->time_ns < effect->invoke->time_ns;
            for (const struct lb_event *e = g->acquired; is_said && e < effect->invoke; e++)
                is_said = e->op != LB_OP_RENEW || e->type == LB_EV_FAIL ||
                          (e->type == LB_EV_INVOKE && is_end(e + 1)) || e->object != g->resource ||
                          e->time_ns < note->time_ns;
            found = found || is_said;
        }
    return found && effect->is_sure && (g->acquired->flags & LB_EVF_COMMITTED) == 0;
}

bool legal_owner(const struct shape *shape)
{
    memset(choices, 0, sizeof choices);
    translate_holds(shape);
    for (uint32_t i = 0, n = translation.n_effects; i < n; i++) {
        translate_holds(shape);
        translate_sessions();
        keep_log_order();
        const struct effect *e = &translation.effects[i];
        if (e->grant == NULL || had_ended(e))
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

bool legal_tokens(const struct shape *shape)
{
    return legal_tokens_of(shape, LB_OP_ACQUIRE) &&
           (!shape->writes || legal_tokens_of(shape, LB_OP_WRITE));
}

/* state: which grants are held, and the last token + 1 */
static bool step_fence(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    enum { GRANTS = 40 };
    uint64_t held = *state & ((UINT64_C(1) << GRANTS) - 1), last = *state >> GRANTS;
    if (translation.n > GRANTS)
        abort();
    if (!step_holds(b, op, &held))
        return false;
    if (op->kind == ACQUIRE) {
        uint64_t token = (uint64_t)translation.grants[op->who].token + 1;
        if (token <= last)
            return false;
        last = token;
    }
    *state = held | last << GRANTS;
    return true;
}

/* Tokens grow in an order in which the lock excludes, where there is such an order. */
bool legal_fence(const struct shape *shape)
{
    if (!legal_holds(shape))
        return legal_tokens(shape);
    memset(choices, 0, sizeof choices);
    do {
        bool all = true;
        for (uint32_t i = 0; i < shape->resources && all; i++) {
            translate_holds(shape);
            translate_sessions();
            keep_log_order();
            keep_resource(i);
            brute.step = step_fence;
            brute.context = shape;
            all = brute_legal(&brute);
        }
        if (all)
            return true;
    } while (choose_next());
    return false;
}

/* As for leases, and the last token + 1. */
static bool step_lease_fence(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    uint64_t held = *state & UINT32_MAX, last = *state >> 32;
    if (!step_lease(b, op, &held))
        return false;
    if (op->kind == ACQUIRE) {
        uint64_t token = (uint64_t)translation.grants[op->who].token + 1;
        if (token <= last)
            return false;
        last = token;
    }
    *state = held | last << 32;
    return true;
}

bool legal_lease_fence(const struct shape *shape)
{
    if (!legal_lease(shape))
        return legal_tokens(shape);
    translate_holds(shape);
    translate_sessions();
    keep_log_order();
    brute.step = step_lease_fence;
    return brute_legal(&brute);
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
    for (uint32_t k = 0; k < MAX_LOGS; k++) /* a grant of unknown outcome may cause a refusal */
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

bool legal_refusals(const struct shape *shape)
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

uint64_t tickets[BRUTE_OPS];

static bool ticket_shared[BRUTE_OPS];

static uint64_t asked[BRUTE_OPS], gone[BRUTE_OPS]; /* for a ticket; granted, or given up */

static uint32_t busy[BRUTE_OPS]; /* the time without an empty line that it belongs to */

static void find_busy(void)
{
    uint64_t last = 0;
    bool is_numbered[BRUTE_OPS] = {false};
    for (uint32_t n = 0, number = 0; n < n_tickets; n++) {
        uint32_t first = UINT32_MAX;
        for (uint32_t i = 0; i < n_tickets; i++)
            if (!is_numbered[i] && (first == UINT32_MAX || asked[i] < asked[first]))
                first = i;
        number += n > 0 && asked[first] > last;
        last = gone[first] > last ? gone[first] : last;
        is_numbered[first] = true;
        busy[first] = number;
    }
}

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
        if (tickets[i] >= tickets[op->who] || s == 2 || busy[i] != busy[op->who])
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
static void translate_line(uint32_t log, uint32_t resource, bool is_alone)
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
                gone[me] = invoke->time_ns;
            if (me != UINT32_MAX && !granted)
                add_brute(LEAVE, me, invoke->time_ns, UINT64_MAX, true, 0, 0);
            me = UINT32_MAX;
            granted = false;
            if (!here)
                continue;
            me = n_tickets++;
            tickets[me] = end->value;
            asked[me] = invoke->time_ns;
            gone[me] = UINT64_MAX;
            ticket_shared[me] = (end->flags & LB_EVF_SHARED) != 0;
        }
        if (me == UINT32_MAX)
            continue;
        bool ok = end != NULL && end->type == LB_EV_OK;
        if (invoke->op == LB_OP_ACQUIRE && here && ok && !granted) {
            add_brute(ACQUIRE, me, invoke->time_ns, end->time_ns, false, 0, 0);
            granted = true;
            gone[me] = is_alone ? end->time_ns : UINT64_MAX; /* else when it is released */
        } else if (!granted && ((invoke->op == LB_OP_CANCEL && here) ||
                                (end == NULL && invoke->op == LB_OP_ACQUIRE))) {
            gone[me] = invoke->time_ns;
            add_brute(LEAVE, me, invoke->time_ns, UINT64_MAX, true, 0, 0);
            me = UINT32_MAX;
        } else if (granted && invoke->op == LB_OP_RELEASE && here) {
            gone[me] = is_alone ? gone[me] : invoke->time_ns;
            add_brute(LEAVE, me, invoke->time_ns, UINT64_MAX, true, 0, 0);
            me = UINT32_MAX;
        }
        if (me != UINT32_MAX && end != NULL && end->type == LB_EV_INFO) {
            gone[me] = granted && is_alone ? gone[me] : invoke->time_ns;
            add_brute(LEAVE, me, invoke->time_ns, UINT64_MAX, true, 0, 0);
            me = UINT32_MAX;
        }
    }
    for (; first < brute.n; first++)
        brute.ops[first].log = log + 1;
}

bool legal_line(const struct shape *shape)
{
    for (uint32_t resource = 0; resource < shape->resources; resource++) {
        brute.n = n_tickets = 0;
        for (uint32_t log = 0; log < MAX_LOGS; log++)
            translate_line(log, resource, shape->capacity <= 1);
        find_busy();
        brute.step = step_line;
        brute.context = shape;
        if (!brute_legal(&brute))
            return false;
    }
    return true;
}
