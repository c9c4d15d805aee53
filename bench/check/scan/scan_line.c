/* The waits of a log's worker, and its place in line. */
#include "judges.h"
#include "scan_logs.h"

int lb_scan_bad(struct lb_scan *scan, const char *what)
{
    return lb_fail(scan->c->err, LB_E_FILE, "log %u, event %u: %s", scan->view->number, scan->index,
                   what);
}

/* --- waits --- */

void lb_scan_wait_begin(struct lb_scan *scan)
{
    if (scan->is_waiting && scan->wait_object == scan->invoke->object)
        return;                                                /* one more try */
    if (scan->is_waiting && scan->refused_ns >= scan->wait_ns) /* it gave up the other one */
        lb_scan_wait_end(scan, scan->refused_ns, false);
    scan->is_waiting = true;
    scan->wait_object = scan->invoke->object;
    scan->wait_event = scan->invoke_index;
    scan->wait_ns = scan->invoke->time_ns;
}

static void count_wait(struct lb_case *c, const struct lb_pending_wait *wait, uint32_t end)
{
    uint64_t wait_ns = wait->until_ns > wait->since_ns ? wait->until_ns - wait->since_ns : 0;
    if (wait_ns > c->out->measures.longest_wait_ns)
        c->out->measures.longest_wait_ns = wait_ns;
    lb_finding_of(c, LB_G_PROGRESS)->n_tested++;
    if (c->model->progress_bound_ns == 0 || wait_ns <= c->model->progress_bound_ns)
        return;
    struct lb_late_wait *late = lb_array_push(&c->late_waits, sizeof *late);
    *late = (struct lb_late_wait){*wait, end};
}

static struct lb_pending_wait wait_until(const struct lb_scan *scan, uint64_t until_ns)
{
    return (struct lb_pending_wait){.since_ns = scan->wait_ns,
                                    .until_ns = until_ns,
                                    .object = scan->wait_object,
                                    .log = scan->log,
                                    .event = scan->wait_event};
}

void lb_scan_wait_end(struct lb_scan *scan, uint64_t time_ns, bool granted)
{
    if (!scan->is_waiting)
        return;
    scan->is_waiting = false;
    struct lb_pending_wait wait = wait_until(scan, time_ns);
    count_wait(scan->c, &wait, granted ? scan->index : LB_NONE);
}

void lb_scan_wait_cut(struct lb_scan *scan)
{
    const uint64_t bound = scan->c->model->progress_bound_ns, until = scan->invoke->time_ns;
    const bool is_try = scan->invoke->op == LB_OP_CLAIM || scan->invoke->op == LB_OP_ACQUIRE;
    if (scan->is_waiting && is_try && bound > 0 && until > scan->wait_ns &&
        until - scan->wait_ns > bound)
        lb_scan_wait_end(scan, until, false);
    scan->is_waiting = false;
}

void lb_scan_keep_wait(struct lb_scan *scan)
{
    struct lb_case *c = scan->c;
    if (!scan->is_waiting)
        return;
    bool under_way = scan->invoke != NULL && c->model->complete && !c->history->truncated;
    struct lb_pending_wait *wait = lb_array_push(&c->pending, sizeof *wait);
    uint64_t end = lb_low(c->end_ns, scan->slack + c->most_slack); /* by another's clock */
    *wait = wait_until(scan, under_way && end > scan->last_ns ? end : scan->last_ns);
}

void lb_scan_count_pending(struct lb_case *c)
{
    struct lb_pending_wait *waits = c->pending.items;
    for (size_t i = 0; i < c->pending.n; i++) {
        uint64_t death = c->logs[waits[i].log].gone_ns;
        if (waits[i].until_ns > death)
            waits[i].until_ns = death;
        count_wait(c, &waits[i], LB_NONE);
    }
}

/* --- the place in line --- */

void lb_scan_leave_line(struct lb_scan *scan, uint64_t low, uint64_t high, uint32_t grant)
{
    if (!scan->has_ticket)
        return;
    scan->has_ticket = false;
    struct lb_waiter *waiter = lb_array_push(&scan->c->waiters, sizeof *waiter);
    *waiter = scan->ticket;
    waiter->low = low;
    waiter->high = high;
    waiter->grant = grant;
}

static uint32_t first_lease_ms(const struct lb_log_view *log)
{
    for (const struct lb_span *span = log->spans; span < log->spans + log->n_spans; span++)
        for (const struct lb_event *e = span->events, *end = e + span->n; e < end; e++)
            if (e->op == LB_OP_ACQUIRE && e->type == LB_EV_OK && e->arg > 0)
                return e->arg;
    return 0;
}

void lb_scan_others_lease(struct lb_scan *scan)
{
    const struct lb_history_view *history = scan->c->history;
    if (!scan->has_ticket || scan->has_asked_others || scan->lease_ms > 0 || !scan->c->model->lease)
        return;
    scan->has_asked_others = true;
    for (size_t i = 0; i < history->n_logs; i++) {
        uint32_t lease_ms = first_lease_ms(&history->logs[i]);
        if (lease_ms > 0 && (scan->lease_ms == 0 || lease_ms < scan->lease_ms))
            scan->lease_ms = lease_ms;
    }
}

bool lb_scan_was_silent(const struct lb_scan *scan, uint64_t until_ns)
{
    uint64_t from = lb_low(scan->alive_ns, scan->slack);
    return scan->lease_ms > 0 &&
           lb_high(until_ns, scan->slack) >= lb_lease_low(scan->c, from, scan->lease_ms);
}

void lb_scan_miss_try(struct lb_scan *scan, uint64_t asked_ns, uint64_t until_ns)
{
    uint64_t from = lb_low(scan->alive_ns, scan->slack);
    bool is_missed = scan->has_ticket && lb_scan_was_silent(scan, until_ns);
    scan->alive_ns = asked_ns;
    if (is_missed)
        lb_scan_leave_line(scan, from, LB_NEVER, LB_NONE);
}
