/* The second pass over a queue's logs: extracts the events of the ids that ids.c could not judge by
 * itself, and operations that gave items of all workers back: only these ids' cores need them. The
 * first pass has proved the grammar.
 *
 * A claim's items are notes before its end; they count only if it ended ok.
 */
#include "scan_logs.h"

#include <stdlib.h>

struct item_scan {
    struct lb_case *c;
    uint32_t log;
    uint64_t slack;
    const struct lb_event *invoke; /* of the operation under way; NULL */
    uint32_t invoke_index;
    struct lb_batch batch;
    size_t claim_first; /* the items of the claim under way */
    uint64_t n_noted;   /* ... all of them, also those that are not kept */
    bool is_unclear;    /* it may hold items that it was not told of */
};

static bool is_wanted(const struct lb_case *c, uint64_t id)
{
    const struct lb_id *place = lb_id_place(c, id);
    return !c->is_dense || (place != NULL && place->is_odd);
}

static int push_item(struct lb_case *c, const struct lb_item_record *item)
{
    if (c->items.n >= LB_NONE)
        return lb_fail(c->err, LB_E_FILE, "more than %u operations on items", LB_NONE - 1);
    struct lb_item_record *slot = lb_array_push(&c->items, sizeof *slot);
    *slot = *item;
    return 0;
}

static int push_claimed(struct item_scan *scan, const struct lb_event *note, uint32_t index)
{
    struct lb_case *c = scan->c;
    return push_item(c, &(struct lb_item_record){.id = note->value,
                                                 .low = lb_low(scan->invoke->time_ns, scan->slack),
                                                 .log = scan->log,
                                                 .event = index,
                                                 .lease_ms = c->model->no_lease ? 0 : note->arg,
                                                 .class_no = scan->invoke->object,
                                                 .op = LB_OP_ITEM,
                                                 .flags = note->flags,
                                                 .type = LB_EV_OK});
}

static void end_claim(struct item_scan *scan, const struct lb_event *end, int type)
{
    struct lb_case *c = scan->c;
    struct lb_item_record *items = c->items.items;
    if (type != LB_EV_OK)
        c->items.n = scan->claim_first; /* items that were not handed out */
    for (size_t i = scan->claim_first; i < c->items.n; i++)
        items[i].high = lb_high(end->time_ns, scan->slack);
    bool has_more = type == LB_EV_OK && (end->value > scan->n_noted || end->arg > scan->n_noted);
    if (type == LB_EV_INFO || type == LB_EV_NONE || has_more)
        scan->is_unclear = true;
    scan->n_noted = 0;
}

/* For how long a renewal said, or asked, that it prolongs; 0: neither. */
static uint32_t renewed_ms(const struct lb_event *invoke, const struct lb_event *end, bool ok)
{
    bool is_told = ok && end->arg > 0;
    return invoke->op != LB_OP_RENEW_ITEM ? 0 : is_told ? end->arg : invoke->arg;
}

static int push_end(struct item_scan *scan, const struct lb_event *end, int type)
{
    const struct lb_event *invoke = scan->invoke;
    bool ok = type == LB_EV_OK;
    return push_item(scan->c, &(struct lb_item_record){
                                  .id = invoke->value,
                                  .low = lb_low(invoke->time_ns, scan->slack),
                                  .high = ok ? lb_high(end->time_ns, scan->slack) : LB_NEVER,
                                  .log = scan->log,
                                  .event = scan->invoke_index,
                                  .lease_ms = renewed_ms(invoke, end, ok),
                                  .class_no = invoke->object,
                                  .op = invoke->op,
                                  .type = (uint8_t)type,
                                  .flags = ok ? end->flags : 0,
                                  .is_unclear = scan->is_unclear});
}

/* A refused end: its worker learned that the item is not its own. That matters only if it dies. */
static void push_let_go(struct item_scan *scan, const struct lb_event *end)
{
    struct lb_case *c = scan->c;
    const struct lb_event *invoke = scan->invoke;
    if (end->answer != LB_REFUSED || c->logs[scan->log].death_ns == LB_NEVER ||
        invoke->op == LB_OP_CLEAR_ERROR || !is_wanted(c, invoke->value))
        return;
    struct lb_let_go *slot = lb_array_push(&c->let_go, sizeof *slot);
    *slot = (struct lb_let_go){invoke->value, scan->log, scan->invoke_index};
}

/* A renewal that was answered, and prolonged nothing. */
static bool is_idle_renewal(const struct item_scan *scan, const struct lb_event *end, int type)
{
    return scan->invoke->op == LB_OP_RENEW_ITEM && type == LB_EV_OK &&
           (end->flags & LB_EVF_EFFECTIVE) == 0;
}

/* Makes it the operation under way. */
static void begin(struct item_scan *scan, struct lb_invoked operation)
{
    scan->invoke = operation.event;
    scan->invoke_index = operation.index;
    scan->claim_first = scan->c->items.n;
}

/* end: NULL if the operation was never answered. index: its place, or the log's end. */
static int scan_end(struct item_scan *scan, const struct lb_event *end, int type, uint32_t index)
{
    int rc = 0;
    switch (scan->invoke->op) {
    case LB_OP_CLAIM:
        end_claim(scan, end, type);
        break;
    case LB_OP_CLEAR_ALL:
    case LB_OP_RESET_ALL:
        lb_scan_world(scan->c, scan->log, &(struct lb_invoked){scan->invoke, index}, end, type);
        break;
    case LB_OP_COMPLETE:
    case LB_OP_ERROR:
    case LB_OP_FREE:
    case LB_OP_CLEAR_ERROR:
    case LB_OP_RENEW_ITEM:
        if (type != LB_EV_FAIL && !is_idle_renewal(scan, end, type) &&
            is_wanted(scan->c, scan->invoke->value))
            rc = push_end(scan, end, type);
        if (type == LB_EV_FAIL)
            push_let_go(scan, end);
        break;
    default:
        break;
    }
    begin(scan, lb_batch_next(&scan->batch));
    return rc;
}

static int scan_event(struct item_scan *scan, const struct lb_event *e, uint32_t index)
{
    switch (e->type) {
    case LB_EV_INVOKE:
        if (scan->invoke != NULL)
            lb_batch_add(&scan->batch, e, index);
        else
            begin(scan, (struct lb_invoked){e, index});
        return 0;
    case LB_EV_NOTE:
        scan->n_noted += e->op == LB_OP_ITEM;
        return e->op == LB_OP_ITEM && is_wanted(scan->c, e->value) ? push_claimed(scan, e, index)
                                                                   : 0;
    default:
        return scan_end(scan, e, e->type, index);
    }
}

static int scan_span(struct item_scan *scan, const struct lb_span *span, uint32_t *index)
{
    enum { AHEAD = 24 }; /* events: an id's place is fetched in time */
    int rc = 0;
    for (size_t k = 0; k < span->n && rc == 0; k++) {
        if (k + AHEAD < span->n)
            __builtin_prefetch(lb_id_place(scan->c, span->events[k + AHEAD].value));
        rc = scan_event(scan, &span->events[k], (*index)++);
    }
    return rc;
}

int lb_scan_items(struct lb_case *c)
{
    int rc = 0;
    for (size_t i = 0; i < c->history->n_logs && rc == 0; i++) {
        const struct lb_log_view *view = &c->history->logs[i];
        struct item_scan scan = {.c = c, .log = (uint32_t)i, .slack = view->uncertainty_ns};
        uint32_t index = 0;
        for (size_t s = 0; s < view->n_spans && rc == 0; s++) {
            rc = lb_case_goes_on(c);
            rc = rc == 0 ? scan_span(&scan, &view->spans[s], &index) : rc;
            lb_history_forget(c->history, &view->spans[s]);
        }
        while (rc == 0 && scan.invoke != NULL)
            rc = scan_end(&scan, NULL, LB_EV_NONE, index);
        free(scan.batch.more.items);
    }
    return rc;
}
