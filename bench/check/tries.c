/* The requests after a death. A recovery is late for waiting workers: it cannot be late for a lock,
 * or an item, that no worker wanted. Nor is it if one of unknown outcome may have had it in
 * between.
 */
#include "scan_logs.h"

static bool asks(const struct lb_event *e, bool is_queue, uint32_t object)
{
    bool is_try =
        is_queue ? e->op == LB_OP_CLAIM : e->op == LB_OP_ACQUIRE || e->op == LB_OP_ENQUEUE;
    return is_try && e->object == object;
}

/* The latest request time of the first try of a log that was not answered by a time. */
static uint64_t first_of(const struct lb_case *c, uint32_t log, uint32_t object, uint64_t from)
{
    const struct lb_log_view *view = &c->history->logs[log];
    uint64_t asked = LB_NEVER, slack = lb_slack(c, log);
    for (size_t s = 0; s < view->n_spans; s++)
        for (size_t i = 0; i < view->spans[s].n; i++) {
            const struct lb_event *e = &view->spans[s].events[i];
            if (e->type == LB_EV_NOTE || !asks(e, c->model->queue, object))
                continue;
            if (e->type == LB_EV_INVOKE)
                asked = lb_high(e->time_ns, slack);
            else if (lb_low(e->time_ns, slack) > from)
                return asked;
            else
                asked = LB_NEVER;
        }
    return asked; /* never answered, or LB_NEVER */
}

uint64_t lb_first_try(const struct lb_case *c, uint32_t dead_log, uint32_t object, uint64_t from)
{
    uint64_t first = LB_NEVER;
    for (uint32_t log = 0; log < c->history->n_logs; log++) {
        uint64_t asked = log != dead_log ? first_of(c, log, object, from) : LB_NEVER;
        first = asked < first ? asked : first;
    }
    return first > from ? first : from;
}

/* Until when a try of unknown outcome may have had the lock, or an item; 0: it had nothing. One
 * that took longer than the bound waited, as the others did. */
static uint64_t had_until(const struct lb_case *c, uint32_t log, uint64_t low, uint64_t high,
                          uint64_t bound)
{
    uint64_t death = c->logs[log].death_ns;
    uint64_t end = high != LB_NEVER ? high : death != LB_NEVER ? death : c->end_ns;
    if (end > low && end - low > bound)
        return 0;
    return high == LB_NEVER && death == LB_NEVER ? LB_NEVER : end + LB_NOTICED_NS;
}

/* The latest time until which a try that began by a time, and had not ended at another, may have
 * had it. */
static uint64_t had_last(const struct lb_case *c, const struct lb_recovery_wait *wait, uint64_t by,
                         uint64_t bound)
{
    const uint32_t object = wait->object;
    const uint64_t again = wait->again;
    const struct lb_unknown_claim *claims = c->unknown.items;
    const struct lb_unknown_grant *grants = c->unknown_grants.items;
    uint64_t last = 0;
    for (size_t i = 0; i < c->unknown.n; i++) {
        const struct lb_unknown_claim *claim = &claims[i];
        if (claim->low > by || claim->log == wait->log ||
            (claim->class_no != object && claim->class_no != LB_NONE && object != LB_NONE))
            continue;
        uint64_t until = had_until(c, claim->log, claim->low, claim->high, bound);
        if (until > 0 && (claim->is_beyond || claim->is_final)) /* a living worker has it */
            until = LB_NEVER;
        last = until >= again && until > last ? until : last;
    }
    for (size_t i = 0; i < c->unknown_grants.n; i++) {
        if (grants[i].resource != object || grants[i].low > by || grants[i].log == wait->log)
            continue;
        uint64_t until = had_until(c, grants[i].log, grants[i].low, grants[i].high, bound);
        last = until >= again && until > last ? until : last;
    }
    return last;
}

bool lb_is_late_recovery(struct lb_case *c, enum lb_guarantee guarantee,
                         const struct lb_recovery_wait *wait)
{
    /* Each of the two times may be as early or as late as its clock is uncertain. */
    uint64_t from = wait->from, last = 0, bound = wait->bound_ns + 4 * c->most_slack;
    if (!lb_is_late(c, guarantee, from, wait->until, bound))
        return false;
    while (from < wait->until && wait->until - from > bound && from > last) {
        last = from;
        uint64_t had = had_last(c, wait, from + bound, bound);
        from = had > from ? had : from;
    }
    if (from < wait->until && wait->until - from > bound)
        return true;
    c->doubt[guarantee] = "a try of unknown outcome may have had what a dead worker held, before "
                          "the next one had it";
    return false;
}
