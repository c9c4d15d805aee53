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
 * nobody knows of the process. One of unknown outcome may have been the first: then the process
 * counts as one that beats, and a claim is as old as that.
 */
#include "items.h"

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
    struct lb_beat *beat =
        scan->c->beats.n < LB_NONE ? lb_array_push(&scan->c->beats, sizeof *beat) : NULL;
    if (beat == NULL)
        return lb_out_of_memory(scan->c);
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
static size_t first_from(const struct lb_case *c, uint32_t log, uint64_t time)
{
    const struct lb_beat *beats = c->beats.items;
    size_t low = 0, high = c->beats.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool is_before =
            beats[middle].log != log ? beats[middle].log < log : beats[middle].high < time;
        if (is_before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void lb_beats_heard(struct lb_item_event *claim, size_t i)
{
    claim->is_heard = true;
    claim->heard = (uint32_t)i;
}

/* Of beats that were under way at one time nobody knows which came last. */
uint64_t lb_beats_kept(const struct lb_case *c, const struct lb_item_event *claim, uint32_t age_ms)
{
    const struct lb_beat *beats = c->beats.items;
    size_t i = claim->heard;
    uint64_t kept = lb_kept_off(beats[i].low, beats[i].safe_ms, age_ms), last = beats[i].low;
    for (; i > 0 && beats[i - 1].log == claim->log && beats[i - 1].high >= last; i--) {
        const struct lb_beat *beat = &beats[i - 1];
        uint64_t one = lb_kept_off(beat->low, beat->safe_ms, age_ms);
        kept = one < kept ? one : kept;
        last = beat->low > last ? beat->low : last;
    }
    return kept;
}

size_t lb_beats_begin(const struct lb_case *c, struct lb_item_event *claim)
{
    const struct lb_beat *beats = c->beats.items;
    const struct lb_log_facts *facts = &c->logs[claim->log];
    size_t i = first_from(c, claim->log, claim->low);
    bool is_unsure = facts->has_unsure_beat && facts->unsure_beat <= claim->since;
    claim->is_heard = false;
    claim->revived = claim->exact = LB_NEVER;
    if (i > 0 && beats[i - 1].log == claim->log) {
        lb_beats_heard(claim, i - 1); /* it is as old as what was heard last before it */
    } else if (i < c->beats.n && beats[i].log == claim->log && beats[i].low <= claim->since) {
        lb_beats_heard(claim, i++); /* or may be: the first beat of all may have come before it */
        if (is_unsure)              /* ... behind another, or not: any recovery may take it */
            claim->revived = claim->exact = claim->low;
    } else if (is_unsure) {
        claim->since = facts->unsure_beat;
    }
    return i;
}
