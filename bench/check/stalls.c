/* Times at which everybody stood still, through no fault of the protocol (LB_OP_STALL): they are
 * taken off every wait and every recovery. A bound says how long the protocol may keep somebody
 * waiting, and while the recorder was stopped, or the database answered nobody, no protocol could
 * have done anything.
 *
 * How long such a time was is known to some hundredths of a second, and what follows it is not as
 * it would have been: everybody wakes up at once. So where more than a fifth of a run was lost,
 * progress and recovery are not tested, whatever the waits were.
 */
#include "judges.h"
#include "scan_logs.h"

#include "units.h"

#include <stdio.h>
#include <stdlib.h>

struct stall {
    uint64_t from, until;
};

int lb_scan_stall(struct lb_case *c, const struct lb_event *e)
{
    struct stall *stall = lb_array_push(&c->stalls, sizeof *stall);
    if (stall == NULL)
        return lb_out_of_memory(c);
    *stall = (struct stall){e->value < e->time_ns ? e->time_ns - e->value : 0, e->time_ns};
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct stall *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* Those that meet become one. */
static void merge(struct lb_case *c)
{
    struct stall *stalls = c->stalls.items;
    size_t n = 0;
    if (c->stalls.n > 1)
        qsort(stalls, c->stalls.n, sizeof *stalls, by_start);
    for (size_t i = 0; i < c->stalls.n; i++) {
        if (n > 0 && stalls[i].from <= stalls[n - 1].until) {
            if (stalls[i].until > stalls[n - 1].until)
                stalls[n - 1].until = stalls[i].until;
        } else {
            stalls[n++] = stalls[i];
        }
    }
    c->stalls.n = n;
}

uint64_t lb_stalled_within(const struct lb_case *c, uint64_t from, uint64_t until)
{
    const struct stall *stalls = c->stalls.items;
    uint64_t sum = 0;
    for (size_t i = 0; i < c->stalls.n && stalls[i].from < until; i++) {
        uint64_t a = stalls[i].from > from ? stalls[i].from : from;
        uint64_t b = stalls[i].until < until ? stalls[i].until : until;
        sum += b > a ? b - a : 0;
    }
    return sum;
}

void lb_judge_stalls(struct lb_case *c)
{
    enum { MOST = 5 }; /* one part in so many */
    merge(c);
    uint64_t start = c->history->start_ns, length = c->end_ns > start ? c->end_ns - start : 0;
    uint64_t lost = lb_stalled_within(c, start, c->end_ns);
    c->out->measures.n_stalls = c->stalls.n;
    c->out->measures.stalled_ns = lost;
    if (lost == 0 || lost <= length / MOST)
        return;
    char a[32], b[32];
    snprintf(c->stalled, sizeof c->stalled,
             "everybody stood still for %s of %s: repeat the run on a machine that is not stopped "
             "or starved",
             lb_format_ns(lost, a, sizeof a), lb_format_ns(length, b, sizeof b));
}

int lb_keep_late_wait(struct lb_case *c, const struct lb_pending_wait *wait, uint32_t end)
{
    struct lb_late_wait *late = lb_array_push(&c->late_waits, sizeof *late);
    if (late == NULL)
        return lb_out_of_memory(c);
    *late = (struct lb_late_wait){*wait, end};
    return 0;
}

void lb_judge_late_waits(struct lb_case *c)
{
    const struct lb_late_wait *late = c->late_waits.items;
    for (size_t i = 0; i < c->late_waits.n; i++) {
        const struct lb_pending_wait *wait = &late[i].wait;
        uint64_t lost = lb_stalled_within(c, wait->since_ns, wait->until_ns);
        if (wait->until_ns - wait->since_ns - lost > c->model->progress_bound_ns)
            lb_witness_wait(c, wait, late[i].end);
    }
}
