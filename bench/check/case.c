/* Where things stand in the history of a case: see case.h. */
#include "case.h"

#include "order.h"

static const struct lb_event *event_at(const struct lb_log_view *view, const size_t *first,
                                       uint32_t event)
{
    /* The last span that begins at or before event. */
    size_t span = lb_order_find(first, view->n_spans, sizeof *first, (uint64_t)event + 1) - 1;
    return &view->spans[span].events[event - first[span]];
}

const struct lb_event *lb_case_event(const struct lb_case *c, uint32_t log, uint32_t event)
{
    return event_at(&c->history->logs[log], c->logs[log].span_first, event);
}

/* Of a batch: is it the claim that went out behind it, or what that brought? The claim's end is the
 * last, wherever its invoke stands; the others end in the order of their invokes. */
static bool is_claims(const struct lb_event *e)
{
    return e->op == LB_OP_CLAIM || e->op == LB_OP_ITEM;
}

/* The first invoke of the batch that the invoke at position event belongs to; itself, if it is in
 * none. *ret_n: how many of items stand before it. */
static uint32_t first_invoke(const struct lb_case *c, uint32_t log, uint32_t event, uint32_t *ret_n)
{
    *ret_n = 0;
    for (uint32_t i = event; i > 0;) {
        const struct lb_event *e = lb_case_event(c, log, --i);
        if (e->type == LB_EV_NOTE)
            continue;
        if (e->type != LB_EV_INVOKE)
            break;
        event = i;
        *ret_n += !is_claims(e);
    }
    return event;
}

uint32_t lb_case_invoke(const struct lb_case *c, uint32_t log, uint32_t event)
{
    uint32_t n_ends = 0, n_before;
    const struct lb_event *told = lb_case_event(c, log, event), *e = told;
    if (told->type == LB_EV_INVOKE)
        return event;
    while ((e = lb_case_event(c, log, --event))->type != LB_EV_INVOKE)
        n_ends += e->type != LB_EV_NOTE; /* notes may stand between, and ends of a batch */
    uint32_t last = event;
    event = first_invoke(c, log, last, &n_before);
    for (; event < last; event++) {
        e = lb_case_event(c, log, event);
        if (e->type == LB_EV_INVOKE && is_claims(e) == is_claims(told) &&
            (is_claims(told) || n_ends-- == 0))
            break;
    }
    return event;
}

uint32_t lb_case_end(const struct lb_case *c, uint32_t log, uint32_t event)
{
    uint32_t n_before = 0;
    const struct lb_event *asked = lb_case_event(c, log, event);
    if (asked->type == LB_EV_INVOKE)
        first_invoke(c, log, event, &n_before);
    bool ended = false;
    for (event++; event < c->history->logs[log].n_events; event++) {
        const struct lb_event *e = lb_case_event(c, log, event);
        if (e->type == LB_EV_NOTE)
            continue;
        if (e->type == LB_EV_INVOKE && ended)
            return LB_NONE; /* the next operation's */
        ended = ended || e->type != LB_EV_INVOKE;
        if (ended && is_claims(e) == is_claims(asked) && (is_claims(asked) || n_before-- == 0))
            return event;
    }
    return LB_NONE;
}

uint64_t lb_hold_asked(const struct lb_case *c, const struct lb_hold *hold)
{
    uint32_t invoke = lb_case_invoke(c, hold->log, hold->event);
    return lb_low(lb_case_event(c, hold->log, invoke)->time_ns, lb_slack(c, hold->log));
}

int lb_case_goes_on(const struct lb_case *c)
{
    const struct lb_model *model = c->model;
    return model->gives_up != NULL && model->gives_up(model->gives_up_arg)
               ? lb_fail(c->err, LB_E_INTERRUPTED, "interrupted while the history was judged")
               : 0;
}
