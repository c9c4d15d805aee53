/* Times at which all workers stood still, for a reason outside the protocol (LB_OP_STALL): they are
 * subtracted from every wait and every recovery. A bound limits how long the protocol may keep a
 * worker waiting, and while the recorder was stopped, or the database did not answer, no protocol
 * could have done anything.
 *
 * A single worker that was not run (LB_STALL_ONE: the holder in its hold, the one that recovers,
 * the next in line) may be the reason why others waited, or not: this is unknown. A wait beyond the
 * bound only if such times count is neither violated nor held.
 *
 * How long such a time was is known to some hundredths of a second, and its aftermath is abnormal:
 * all workers wake up at once. So if more than a fifth of a run was lost, progress and recovery are
 * not tested, for any waits.
 */
#include "guarantee_kind.h"
#include "judges.h"
#include "scan_logs.h"

#include "order.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>

struct stall {
    uint64_t from, until;
    uint64_t before; /* the sum of those before it */
};

static void push(struct lb_array *array, const struct lb_event *e)
{
    struct stall *stall = lb_array_push(array, sizeof *stall);
    *stall = (struct stall){.from = e->value < e->time_ns ? e->time_ns - e->value : 0,
                            .until = e->time_ns};
}

void lb_scan_stall(struct lb_case *c, const struct lb_event *e)
{
    push(&c->unrun, e);
    if (e->arg != LB_STALL_ONE)
        push(&c->stalls, e);
}

/* Those that meet become one. */
static void merge(struct lb_array *array)
{
    struct stall *stalls = array->items;
    size_t n = 0;
    if (array->n > 1)
        qsort(stalls, array->n, sizeof *stalls, lb_order_u64);
    for (size_t i = 0; i < array->n; i++) {
        if (n > 0 && stalls[i].from <= stalls[n - 1].until) {
            if (stalls[i].until > stalls[n - 1].until)
                stalls[n - 1].until = stalls[i].until;
        } else {
            stalls[n++] = stalls[i];
        }
    }
    array->n = n;
    for (size_t i = 1; i < n; i++)
        stalls[i].before = stalls[i - 1].before + (stalls[i - 1].until - stalls[i - 1].from);
}

/* The sum of all up to a time. */
static uint64_t sum_until(const struct lb_array *array, uint64_t time_ns)
{
    const struct stall *stalls = array->items;
    size_t n = lb_order_find(stalls, array->n, sizeof *stalls, time_ns); /* began before */
    if (n == 0)
        return 0;
    const struct stall *last = &stalls[n - 1];
    return last->before + ((last->until < time_ns ? last->until : time_ns) - last->from);
}

static uint64_t sum_within(const struct lb_array *array, uint64_t from, uint64_t until)
{
    return until > from ? sum_until(array, until) - sum_until(array, from) : 0;
}

uint64_t lb_stalled_within(const struct lb_case *c, uint64_t from, uint64_t until)
{
    return sum_within(&c->stalls, from, until);
}

bool lb_is_late(struct lb_case *c, enum lb_guarantee guarantee, uint64_t from, uint64_t until,
                uint64_t bound)
{
    uint64_t length = until > from ? until - from : 0;
    if (length - sum_within(&c->stalls, from, until) <= bound)
        return false;
    if (length - sum_within(&c->unrun, from, until) > bound)
        return true;
    c->doubt[guarantee] = "a wait was beyond the bound, but some worker was not run for a part of "
                          "it: repeat the run on a machine that is not starved";
    return false;
}

void lb_judge_stalls(struct lb_case *c)
{
    enum { MOST = 5 }; /* one part in five */
    merge(&c->stalls);
    merge(&c->unrun);
    uint64_t start = c->history->begin_ns, length = c->end_ns > start ? c->end_ns - start : 0;
    uint64_t lost = lb_stalled_within(c, start, c->end_ns);
    c->out->measures.n_stalls = c->stalls.n;
    c->out->measures.stalled_ns = lost;
    if (lost == 0 || lost <= length / MOST)
        return;
    char a[32], b[32];
    snprintf(
        c->stalled, sizeof c->stalled,
        "all workers stood still for %s of %s: repeat the run on a machine that is not stopped "
        "or starved",
        lb_format_ns(lost, a, sizeof a), lb_format_ns(length, b, sizeof b));
}

/* A wait that was longer than the bound. end: the event that answered, or LB_NONE. */
static void report(struct lb_case *c, const struct lb_pending_wait *wait, uint32_t end)
{
    struct lb_witness *witness = lb_violation(c, LB_G_PROGRESS);
    if (witness == NULL)
        return;
    lb_witness_add(c, witness, wait->log, wait->event);
    if (end != LB_NONE && lb_case_invoke(c, wait->log, end) != wait->event)
        lb_witness_add(c, witness, wait->log, end);
    witness->at_ns = wait->since_ns + c->model->progress_bound_ns;
    char at[LB_AT], length[LB_AT], bound[LB_AT], stalled[32], lost[80] = "";
    uint64_t lost_ns = lb_stalled_within(c, wait->since_ns, wait->until_ns);
    if (lost_ns > 0)
        snprintf(lost, sizeof lost, ", of which all workers stood still for %s",
                 lb_format_ns(lost_ns, stalled, sizeof stalled));
    lb_witness_text(witness, "%s asked for %s %u at %s and %s %s later%s; the bound is %s",
                    lb_who(c, wait->log, LB_WHOM),
                    c->model->queue ? "an item of class" : "resource", wait->object,
                    lb_at(c, wait->since_ns, at, sizeof at),
                    end == LB_NONE ? "still had nothing" : "was granted it only",
                    lb_format_ns(wait->until_ns - wait->since_ns, length, sizeof length), lost,
                    lb_format_ns(c->model->progress_bound_ns, bound, sizeof bound));
}

void lb_judge_late_waits(struct lb_case *c)
{
    const struct lb_late_wait *late = c->late_waits.items;
    for (size_t i = 0; i < c->late_waits.n; i++) {
        const struct lb_pending_wait *wait = &late[i].wait;
        if (lb_is_late(c, LB_G_PROGRESS, wait->since_ns, wait->until_ns,
                       c->model->progress_bound_ns))
            report(c, wait, late[i].end);
    }
}

/* Why no wait of this history can break, or keep, the bound on waits. Returns buf; "": it can. */
static const char *overrule(const struct lb_case *c, char *buf, size_t size)
{
    const uint64_t bound_ns = c->model->progress_bound_ns, demand_ns = c->model->progress_demand_ns;
    const uint64_t begin_ns = c->history->begin_ns;
    const uint64_t length_ns = c->end_ns > begin_ns ? c->end_ns - begin_ns : 0;
    /* Where nothing was ever granted, no worker waited for the holds of others. */
    const bool is_idle = c->out->measures.n_holds == 0 && c->out->measures.n_claims == 0;
    const bool is_short = bound_ns < demand_ns && !is_idle;
    char bound[32], other[32];
    snprintf(buf, size, "%s", c->stalled);
    if (buf[0] != '\0')
        return buf;
    lb_format_ns(bound_ns, bound, sizeof bound);
    if (bound_ns == 0 || (!is_short && bound_ns <= length_ns))
        return buf;
    if (is_short)
        snprintf(buf, size,
                 "the bound is %s, but holds, polls and faults of the scenario may keep a worker "
                 "waiting for %s: use a longer --progress-bound",
                 bound, lb_format_ns(demand_ns, other, sizeof other));
    else
        snprintf(
            buf, size,
            "the bound is %s, and the run was shorter: %s: use a longer --duration, or shorter "
            "holds and fewer faults",
            bound, lb_format_ns(length_ns, other, sizeof other));
    return buf;
}

static const char *cannot_say(const struct lb_case *c)
{
    return c->model->progress_bound_ns == 0 ? "no bound was given" : NULL;
}

const struct lb_guarantee_kind lb_guarantee_progress = {
    .nothing = "there was no request", .cannot_say = cannot_say, .overrule = overrule};
