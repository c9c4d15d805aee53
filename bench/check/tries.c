/* The first requests after a death. A recovery is late for waiting workers: it cannot be late for a
 * lock, or an item, that no worker wanted.
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
