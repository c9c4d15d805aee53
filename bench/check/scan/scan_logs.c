/* Reads the logs of a history once, in order, and checks their grammar on the way.
 *
 * An operation is an invoke and exactly one end after it, of the same process, operation and
 * object; a log has at most one under way, or a batch: the items that one statement ends, with
 * their invokes one behind another and then their ends in the same order, and last, if it was sent
 * without waiting for these ends (a pipeline), a claim; its times never go back;
 * a process that was answered info does not return. Notes may stand anywhere, items of a claim only
 * inside it. A history that breaks this was not recorded by a working recorder, and no verdict is
 * given on it.
 *
 * An operation without an end at the end of its log was under way when the run ended, or its writer
 * died: its outcome is unknown, as for info, but for ever.
 */
#include "scan_logs.h"

#include <stdlib.h>

/* --- notes about the world --- */

static bool is_world_note(int op)
{
    return op == LB_OP_FAULT || op == LB_OP_DEATH || op == LB_OP_SESSION_END;
}

static void take_clock(struct lb_clock_set *set, const struct lb_event *e)
{
    uint64_t since_ns = e->time_ns > e->value ? e->time_ns - e->value : 0;
    set->n++;
    if (set->n == 1 || since_ns < set->since_ns)
        *set = (struct lb_clock_set){set->n, since_ns, e->time_ns, e->arg, e->object};
}

static int scan_note(struct lb_scan *scan, const struct lb_event *e)
{
    struct lb_case *c = scan->c;
    if (e->op == LB_OP_ITEM)
        return lb_scan_item(scan, e);
    if (e->op == LB_OP_WARM) {
        if (e->time_ns > c->warm_ns)
            c->warm_ns = e->time_ns;
        return 0;
    }
    if (e->op == LB_OP_STALL) {
        lb_scan_stall(c, e);
        return 0;
    }
    if (e->op == LB_OP_RESTART) {
        c->out->measures.n_restarts++;
        return 0;
    }
    if (e->op == LB_OP_CLOCK) {
        take_clock(&c->out->measures.clock_set, e);
        return 0;
    }
    if (e->op == LB_OP_ATTRIBUTE) /* of a lock: its enqueue has no item */
        return c->model->queue ? lb_scan_attribute(scan, e) : 0;
    if (e->op == LB_OP_PERMITS)
        return lb_scan_permits(scan, e);
    if (e->op == LB_OP_WAITED) {
        scan->waited_ns = e->time_ns;
        return scan->invoke != NULL ? 0 : lb_scan_bad(scan, "a wait outside of an operation");
    }
    if (!is_world_note(e->op))
        return lb_scan_bad(scan, "a note of an unknown kind");
    struct lb_world_event *world = lb_array_push(&c->world, sizeof *world);
    bool own_end = e->op == LB_OP_SESSION_END && e->arg == scan->log;
    *world = (struct lb_world_event){.low = lb_low(e->time_ns, scan->slack),
                                     .high = lb_high(e->time_ns, scan->slack),
                                     .alive = own_end ? scan->answered_low : 0,
                                     .log = scan->log,
                                     .event = scan->index,
                                     .target = e->arg,
                                     .phase = e->object,
                                     .op = e->op,
                                     .type = LB_EV_NOTE};
    return 0;
}

/* --- one log --- */

static bool is_retired(const struct lb_scan *scan, uint32_t process)
{
    return scan->has_retired && process == scan->retired;
}

/* Makes a claim the operation under way. */
static void begin_claim(struct lb_scan *scan)
{
    lb_scan_wait_begin(scan);
    scan->noted.n = 0;
}

/* Goes on to the operation after an ended one: the batch's next, or none. */
static void next_of_batch(struct lb_scan *scan)
{
    struct lb_invoked next = lb_batch_next(&scan->batch);
    scan->invoke = next.event;
    scan->invoke_index = next.index;
    if (next.event != NULL && next.event->op == LB_OP_CLAIM)
        begin_claim(scan);
}

/* One more invoke of the batch under way, none of which has ended. */
static int scan_more(struct lb_scan *scan, const struct lb_event *e)
{
    if (!scan->c->model->queue || scan->batch.n_taken > 0 || !lb_is_batched(scan->invoke, e) ||
        (e->op == LB_OP_CLAIM && scan->batch.piped.event != NULL))
        return lb_scan_bad(scan, "an invoke while another operation is under way");
    lb_batch_add(&scan->batch, e, scan->index);
    return 0;
}

static int scan_end(struct lb_scan *scan, const struct lb_event *e)
{
    const struct lb_event *invoke = scan->invoke;
    if (invoke == NULL)
        return lb_scan_bad(scan, "an end without an invoke");
    if (e->op != invoke->op || e->process != invoke->process || e->object != invoke->object)
        return lb_scan_bad(scan, "the end belongs to another operation than the one under way");
    if (scan->batch.more.n > 0 && e->value != invoke->value)
        return lb_scan_bad(scan, "the ends of a batch must name its items, in the order of their "
                                 "invokes");
    int rc = scan->c->model->queue ? lb_scan_queue_end(scan, e, e->type)
                                   : lb_scan_lock_end(scan, e, e->type);
    if (e->type == LB_EV_INFO && !is_retired(scan, e->process)) { /* by a batch, once */
        lb_scan_wait_cut(scan);
        scan->retired = e->process;
        scan->has_retired = true;
        if (rc == 0)
            lb_scan_retire(scan, lb_low(invoke->time_ns, scan->slack));
    } else if (e->type != LB_EV_INFO) {
        if (e->type == LB_EV_FAIL && (e->op == LB_OP_ACQUIRE || e->op == LB_OP_CLAIM))
            scan->refused_ns = e->time_ns;
        scan->answered_low = lb_low(invoke->time_ns, scan->slack);
    }
    next_of_batch(scan);
    return rc;
}

static int scan_invoke(struct lb_scan *scan, const struct lb_event *e)
{
    if (scan->invoke != NULL)
        return scan_more(scan, e);
    if (is_retired(scan, e->process))
        return lb_scan_bad(scan, "a process goes on after an unknown outcome");
    bool lock = (e->op >= LB_OP_ENQUEUE && e->op <= LB_OP_WRITE) || e->op == LB_OP_RECOVER;
    bool queue =
        (e->op >= LB_OP_PUT && e->op <= LB_OP_BEAT && e->op != LB_OP_ITEM) || e->op == LB_OP_WRITE;
    if (!(scan->c->model->queue ? queue : lock))
        return lb_scan_bad(scan, scan->c->model->queue ? "not an operation of a queue"
                                                       : "not an operation of a lock");
    if (!scan->c->model->queue && e->object >= scan->c->n_resources && e->op != LB_OP_RECOVER)
        return lb_scan_bad(scan, "a resource number beyond the model's");
    scan->invoke = e;
    scan->waited_ns = 0;
    scan->invoke_index = scan->index;
    if (e->op == LB_OP_CLAIM)
        begin_claim(scan);
    else if (e->op == LB_OP_ACQUIRE || e->op == LB_OP_ENQUEUE)
        lb_scan_wait_begin(scan);
    return 0;
}

static int scan_event(struct lb_scan *scan, const struct lb_event *e)
{
    if (e->time_ns < scan->last_ns || e->time_ns > LB_TIME_MAX) {
        if (e->time_ns > LB_TIME_MAX)
            return lb_scan_bad(scan, "a time beyond any clock's");
        if (e->type != LB_EV_NOTE || (!is_world_note(e->op) && e->op != LB_OP_STALL &&
                                      e->op != LB_OP_RESTART && e->op != LB_OP_CLOCK))
            return lb_scan_bad(scan, "time goes backwards");
    } else {
        scan->last_ns = e->time_ns;
    }
    switch (e->type) {
    case LB_EV_INVOKE:
        return scan_invoke(scan, e);
    case LB_EV_OK:
    case LB_EV_FAIL:
    case LB_EV_INFO:
        return scan_end(scan, e);
    case LB_EV_NOTE:
        return scan_note(scan, e);
    default:
        return lb_scan_bad(scan, "an event of an unknown type");
    }
}

static int scan_span(struct lb_scan *scan, const struct lb_span *span)
{
    bool is_queue = scan->c->model->queue;
    for (size_t i = 0, n = 0; i < span->n; i++) {
        int rc = 0;
        if (is_queue) {
            rc = lb_scan_operations(scan, span->events + i, span->n - i, &n);
        } else {
            n = lb_scan_cycles(scan, span->events + i, span->n - i);
            scan->index += (uint32_t)n;
        }
        i += n;
        if (rc == 0 && i < span->n) {
            rc = scan_event(scan, &span->events[i]);
            scan->index++;
        }
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int scan_log(struct lb_scan *scan)
{
    struct lb_case *c = scan->c;
    struct lb_log_facts *facts = &c->logs[scan->log];
    facts->first_hold = c->holds.n;
    for (size_t s = 0; s < scan->view->n_spans; s++) {
        int rc = lb_case_goes_on(c);
        if (rc == 0)
            rc = scan_span(scan, &scan->view->spans[s]);
        if (rc != 0)
            return rc;
        lb_history_forget(c->history, &scan->view->spans[s]);
    }
    facts->last_ns = scan->last_ns;
    facts->answered_low = scan->answered_low;
    if (c->end_ns < scan->last_ns)
        c->end_ns = scan->last_ns;
    int rc = 0;
    lb_scan_keep_wait(scan);
    for (; rc == 0 && scan->invoke != NULL; next_of_batch(scan))
        rc = c->model->queue ? lb_scan_queue_end(scan, NULL, LB_EV_NONE)
                             : lb_scan_lock_end(scan, NULL, LB_EV_NONE);
    if (rc == 0 && !c->model->queue)
        lb_scan_lock_finish(scan);
    facts->n_holds = c->holds.n - facts->first_hold;
    return rc;
}

/* Positions of the spans' first events, so that an event can be found by its number. */
static int index_spans(struct lb_case *c, uint32_t log)
{
    const struct lb_log_view *view = &c->history->logs[log];
    size_t *first = lb_calloc(view->n_spans + 1, sizeof *first);
    c->logs[log].span_first = first;
    size_t n = 0;
    for (size_t s = 0; s < view->n_spans; s++) {
        first[s] = n;
        n += view->spans[s].n;
    }
    if (n >= LB_NONE)
        return lb_fail(c->err, LB_E_FILE, "log %u is too long: %zu events", view->number, n);
    return 0;
}

int lb_scan_history(struct lb_case *c)
{
    struct lb_scan scan = {0};
    int rc = 0;
    size_t n = c->model->queue ? 0 : c->n_resources;
    uint32_t *newest = lb_malloc((n + 1) * sizeof *newest);
    uint32_t *last_hold = lb_calloc(n + 1, sizeof *last_hold);
    memset(newest, 0xff, (n + 1) * sizeof *newest); /* LB_NONE */
    for (size_t i = 0; i < c->history->n_logs && rc == 0; i++) {
        struct lb_array grants = {scan.grants.items, 0, scan.grants.room};
        struct lb_array noted = {scan.noted.items, 0, scan.noted.room};
        struct lb_array more = {scan.batch.more.items, 0, scan.batch.more.room};
        scan = (struct lb_scan){.c = c,
                                .view = &c->history->logs[i],
                                .log = (uint32_t)i,
                                .slack = c->history->logs[i].uncertainty_ns,
                                .newest = newest,
                                .last_hold = last_hold,
                                .first_unknown = c->unknown_grants.n,
                                .grants = grants,
                                .noted = noted,
                                .batch = {.more = more}};
        rc = index_spans(c, (uint32_t)i);
        if (rc == 0)
            rc = scan_log(&scan);
    }
    free(scan.grants.items);
    free(scan.noted.items);
    free(scan.batch.more.items);
    free(newest);
    free(last_hold);
    if (rc != 0)
        return rc;
    lb_world_deaths(c);
    lb_world_sessions(c);
    lb_scan_count_pending(c);
    lb_judge_stalls(c);
    lb_judge_late_waits(c);
    return 0;
}
