/* The models of all items together: the order in which they are claimed, the moments at which there
 * is none, and whether each is claimed at last. */
#include "queue_search.h"

/* --- order: state is the queue, four bits an item, the head lowest; above HAD_SHIFT the items that
 * were taken before, and may have been given back: their place in line is unknown --- */

enum { HAD_SHIFT = 48 };

static bool step_order(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    uint64_t had = *state >> HAD_SHIFT << HAD_SHIFT, queue = *state ^ had;
    uint64_t item = UINT64_C(1) << HAD_SHIFT << op->who;
    if (op->kind == LEAVE) /* told that there is nothing */
        return queue == 0;
    if (op->kind == PUT) {
        unsigned shift = 0;
        while ((queue >> shift & 15) != 0)
            shift += 4;
        *state |= (uint64_t)op->who << shift;
        return true;
    }
    if (op->kind == CLAIM && (had & item) != 0)
        return true; /* it came back */
    if ((queue & 15) == 0 || (op->kind == CLAIM && (queue & 15) != op->who))
        return false;
    item = UINT64_C(1) << HAD_SHIFT << (queue & 15);
    *state = queue >> 4 | had | (op->kind == TAKE && op->a == LB_EVF_FINAL ? 0 : item);
    return true;
}

/* Translates all puts and claims, and answers that the queue is empty. */
static void translate_order(bool with_empty)
{
    brute.n = 0;
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *e = &history.events[log][i];
            const struct lb_event *end = e->type == LB_EV_INVOKE ? end_of(log, i) : NULL;
            bool ok = end != NULL && end->type == LB_EV_OK;
            place_now = (uint32_t)i + 1; /* items of one operation are concurrent */
            if (with_empty && e->type == LB_EV_INVOKE && e->op == LB_OP_CLAIM && end != NULL &&
                end->type == LB_EV_FAIL)
                add_brute(LEAVE, 0, e->time_ns, end->time_ns, false, 0, log);
            if (e->type != LB_EV_INVOKE || (end != NULL && end->type == LB_EV_FAIL))
                continue;
            if (e->op == LB_OP_PUT)
                for (uint32_t k = 0; k < e->arg; k++)
                    add_brute(PUT, (uint32_t)e->value + k, e->time_ns,
                              ok ? end->time_ns : UINT64_MAX, !ok, 0, log);
            if (e->op == LB_OP_CLAIM && ok)
                for (const struct lb_event *n = e + 1; n < end; n++)
                    if (n->op == LB_OP_ITEM)
                        add_brute(CLAIM, (uint32_t)n->value, e->time_ns, end->time_ns, false, 0,
                                  log);
            if (e->op == LB_OP_CLAIM && !ok)
                for (uint32_t k = 0; k < e->arg; k++)
                    add_brute(TAKE, 0, e->time_ns, UINT64_MAX, true, e->flags & LB_EVF_FINAL, log);
        }
}

bool legal_order(void)
{
    translate_order(false);
    brute.step = step_order;
    return brute_legal(&brute);
}

bool legal_strict(void)
{
    translate_order(true);
    brute.step = step_order;
    return brute_legal(&brute);
}

/* --- empty: each must have an order in which nothing is there; state is a set of items --- */

static bool step_bag(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    uint64_t bit = UINT64_C(1) << op->who;
    if (op->kind == LEAVE)
        return *state == 0;
    if (op->kind == TAKE) { /* it may have taken anything, and as much as it likes */
        *state = 0;
        return true;
    }
    if (((*state & bit) != 0) == (op->kind == PUT))
        return false;
    *state ^= bit;
    return true;
}

bool legal_empty(void)
{
    bool claimed[IDS + 2] = {false};
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 1; i < history.n[log]; i++) {
            const struct lb_event *end = &history.events[log][i];
            if (end->op != LB_OP_CLAIM || end->type != LB_EV_FAIL)
                continue;
            translate_order(false);
            memset(claimed, 0, sizeof claimed);
            for (uint32_t k = 0; k < brute.n; k++)
                if (brute.ops[k].kind == CLAIM)
                    claimed[brute.ops[k].who] = true;
            /* By claims of unknown outcome: unclaimed items, and items that came back. */
            uint64_t taken = UINT64_MAX, lent = UINT64_MAX;
            for (uint32_t k = 0; k < brute.n; k++) {
                if (brute.ops[k].kind != TAKE)
                    continue;
                taken = brute.ops[k].low < taken ? brute.ops[k].low : taken;
                if (brute.ops[k].a != LB_EVF_FINAL && brute.ops[k].low < lent)
                    lent = brute.ops[k].low;
            }
            uint32_t n = brute.n, kept = 0;
            for (uint32_t k = 0; k < n; k++)
                if (brute.ops[k].kind != TAKE)
                    brute.ops[kept++] = brute.ops[k];
            brute.n = kept;
            for (uint32_t k = 0; k < kept; k++)
                if (brute.ops[k].kind == CLAIM && lent < brute.ops[k].low)
                    brute.ops[k].low = lent;
            for (uint32_t k = 0; k < kept; k++)
                if (brute.ops[k].kind == PUT && !claimed[brute.ops[k].who] && taken != UINT64_MAX)
                    add_brute(CLAIM, brute.ops[k].who, taken, UINT64_MAX, true, 0, log);
            add_brute(LEAVE, 0, asked_at(log, i), end->time_ns, false, 0, log);
            for (uint32_t k = 0; k < brute.n; k++)
                brute.ops[k].log = 0;
            brute.step = step_bag;
            if (!brute_legal(&brute))
                return false;
        }
    return true;
}

/* --- loss: item by item --- */

bool legal_loss(void)
{
    uint64_t n_missing = 0, n_excused = 0;
    for (uint64_t id = 1; id <= IDS + 1; id++) {
        uint64_t put_low = UINT64_MAX, first = UINT64_MAX;
        const struct lb_event *claim = NULL, *put = NULL;
        uint32_t n_claims_of = 0, claimer = LOGS, putter = LOGS;
        bool acked = false;
        for (uint32_t log = 0; log < LOGS; log++)
            for (size_t i = 0; i < history.n[log]; i++) {
                const struct lb_event *e = &history.events[log][i];
                const struct lb_event *end = end_of(log, i);
                if (e->type == LB_EV_NOTE && e->value == id && end != NULL &&
                    end->type == LB_EV_OK) {
                    first = end->time_ns < first ? end->time_ns : first;
                    n_claims_of++;
                    claimer = log;
                    claim = e;
                }
                if (e->type == LB_EV_INVOKE && e->op == LB_OP_PUT && e->value <= id &&
                    id < e->value + e->arg && (end == NULL || end->type != LB_EV_FAIL)) {
                    put_low = e->time_ns;
                    putter = log;
                    put = e;
                    acked = end != NULL && end->type == LB_EV_OK;
                }
            }
        if (first < put_low || (n_claims_of == 1 && claimer == putter && claim < put))
            return false; /* a phantom */
        n_missing += acked && (n_claims_of == 0 || is_given_back(id));
    }
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *e = &history.events[log][i];
            const struct lb_event *end = end_of(log, i);
            if (e->type == LB_EV_INVOKE && e->op == LB_OP_CLAIM &&
                (end == NULL || end->type == LB_EV_INFO))
                n_excused += e->arg;
        }
    return n_missing <= n_excused;
}
