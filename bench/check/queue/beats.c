/* Processes that say that they are alive.
 *
 * Where a process beats, a recovery may take what its workers have once nothing was heard of it for
 * the limit, however young a claim is; and never while it beats in time, however old a claim is. So
 * the age of such a claim counts from the last sign of life that came before a recovery that can
 * have taken it: a beat keeps recoveries off for so long, unless one can have taken the claim by
 * the time it was answered. A process whose beats are late, because its machine did not run it, is
 * thought to be dead by right.
 *
 * Only a beat that was answered ok counts, and from its invoke on: one that is refused says that
 * nobody knows of the process.
 */
#include "items.h"

#include <stdlib.h>

int lb_scan_beat(struct lb_scan *scan, const struct lb_event *end, int type)
{
    if (type != LB_EV_OK || end->arg == 0)
        return 0;
    struct lb_beat *beat = lb_array_push(&scan->c->beats, sizeof *beat);
    if (beat == NULL)
        return lb_out_of_memory(scan->c);
    *beat = (struct lb_beat){.low = lb_low(scan->invoke->time_ns, scan->slack),
                             .high = lb_high(end->time_ns, scan->slack),
                             .log = scan->invoke->object,
                             .safe_ms = end->arg};
    return 0;
}

static int by_log_and_low(const void *a, const void *b)
{
    const struct lb_beat *x = a, *y = b;
    if (x->log != y->log)
        return x->log < y->log ? -1 : 1;
    return (x->low > y->low) - (x->low < y->low);
}

void lb_beats_sort(struct lb_case *c)
{
    if (c->beats.n > 0)
        qsort(c->beats.items, c->beats.n, sizeof(struct lb_beat), by_log_and_low);
}

/* The place of the first beat of a log that was asked for at a time or later, or of its end. */
static size_t first_from(const struct lb_case *c, uint32_t log, uint64_t time)
{
    const struct lb_beat *beats = c->beats.items;
    size_t low = 0, high = c->beats.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool is_before =
            beats[middle].log != log ? beats[middle].log < log : beats[middle].low < time;
        if (is_before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void lb_beats_keep(const struct lb_item_group *group, struct lb_item_event *claim, uint64_t until)
{
    const struct lb_case *c = group->c;
    const struct lb_beat *beats = c->beats.items;
    size_t i = first_from(c, claim->log, claim->low);
    while (i > 0 && beats[i - 1].log == claim->log && beats[i - 1].high > claim->low)
        i--; /* under way when the claim began: it may have come before it, or after */
    if (i > 0 && beats[i - 1].log == claim->log) {
        claim->since = 0; /* it is as old as what was heard last before it */
        claim->renewed = beats[i - 1].low;
        claim->safe_ms = beats[i - 1].safe_ms;
    }
    for (; i < c->beats.n && beats[i].log == claim->log && beats[i].low < until; i++) {
        if (lb_item_recovered(group, claim) <= beats[i].high)
            return;
        claim->renewed = beats[i].low;
        claim->safe_ms = beats[i].safe_ms;
    }
}
