/* Processes that say that they are alive.
 *
 * Where a process beats, a recovery may take what its workers have once nothing was heard of it for
 * the limit, however young a claim is; and never while it beats in time, however old a claim is. So
 * the age of such a claim counts from the last sign of life that came before a recovery that can
 * have taken it: a beat keeps recoveries off for so long, unless one can have taken the claim by
 * the time it was answered. A process whose beats are late, because its machine did not run it, is
 * thought to be dead by right.
 *
 * Only a beat that was answered ok counts, and from its invoke on: one that is refused means that
 * the process is not registered. One of unknown outcome may have been the first: then the process
 * counts as one that beats, and a claim is as old as that.
 */
#include "items.h"

#include "order.h"

#include <stdlib.h>

static void note_unsure(struct lb_case *c, uint32_t log, uint64_t low)
{
    if (log >= c->history->n_logs)
        return;
    struct lb_log_facts *facts = &c->logs[log];
    if (!facts->has_unsure_beat || low < facts->unsure_beat)
        facts->unsure_beat = low;
    facts->has_unsure_beat = c->has_unsure_beats = true;
}

int lb_scan_beat(struct lb_scan *scan, const struct lb_event *end, int type)
{
    if (type != LB_EV_OK && type != LB_EV_FAIL)
        note_unsure(scan->c, scan->invoke->object, lb_low(scan->invoke->time_ns, scan->slack));
    if (type != LB_EV_OK || end->arg == 0)
        return 0;
    if (scan->c->beats.n >= LB_NONE)
        return lb_fail(scan->c->err, LB_E_FILE, "more than %u signs of life", LB_NONE - 1);
    struct lb_beat *beat = lb_array_push(&scan->c->beats, sizeof *beat);
    *beat = (struct lb_beat){.low = lb_low(scan->invoke->time_ns, scan->slack),
                             .high = lb_high(end->time_ns, scan->slack),
                             .log = scan->invoke->object,
                             .safe_ms = end->arg};
    return 0;
}

static int by_log_and_high(const void *a, const void *b)
{
    const struct lb_beat *x = a, *y = b;
    if (x->log != y->log)
        return x->log < y->log ? -1 : 1;
    return (x->high > y->high) - (x->high < y->high);
}

void lb_beats_sort(struct lb_case *c)
{
    if (c->beats.n > 0)
        qsort(c->beats.items, c->beats.n, sizeof(struct lb_beat), by_log_and_high);
}

/* The place of the first beat of a log that was answered at a time or later, or of its end. */
size_t lb_beats_from(const struct lb_case *c, uint32_t log, uint64_t time)
{
    const struct lb_beat from = {.log = log, .high = time};
    return lb_order_first(c->beats.items, c->beats.n, sizeof from, &from, by_log_and_high);
}

bool lb_beats_any(const struct lb_case *c, uint32_t log)
{
    const struct lb_beat *beats = c->beats.items;
    size_t i = lb_beats_from(c, log, 0);
    return i < c->beats.n && beats[i].log == log;
}
