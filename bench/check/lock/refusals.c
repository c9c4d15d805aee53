/* Were the refusals of a lock justified? A rate, not a guarantee: a lock may refuse out of caution.
 *
 * busy, of a lock of capacity 1: justified iff some order of the operations has it while the lock
 * is held. Hold k can have begun at its acquire's request and lasted until its release's answer,
 * but not into the cores of its neighbours: so the answer is justified iff its interval meets the
 * stretched hold [max(acquire's invoke, end of core k-1), min(release's ok, start of core k+1)] of
 * some k. A release that was not answered ok may have done nothing, and an acquire of unknown
 * outcome may have been granted. Not judged: locks with a line (a refused worker may just not be
 * first), capacities above 1, readers.
 *
 * Answers are in order within each log, so the place of the last one is where the search for the
 * next begins.
 */
#include "judges.h"
#include "order.h"

#include <stdlib.h>

struct groups {
    uint32_t *holds;   /* by resource, and by start within each */
    size_t *first;     /* of each resource, and the end */
    size_t *next;      /* while they are sorted: the next free place of each resource */
    uint64_t *unknown; /* per resource: the first acquire that may have been granted */
};

static bool is_empty(const struct lb_hold *hold)
{
    return hold->end <= hold->start;
}

static void groups_init(struct groups *groups, const struct lb_case *c)
{
    const struct lb_unknown_grant *unknown = c->unknown_grants.items;
    *groups =
        (struct groups){.holds = lb_malloc((c->holds.n + 1) * sizeof *groups->holds),
                        .first = lb_calloc((size_t)c->n_resources + 1, sizeof *groups->first),
                        .next = lb_calloc((size_t)c->n_resources + 1, sizeof *groups->next),
                        .unknown = lb_malloc(((size_t)c->n_resources + 1) * sizeof(uint64_t))};
    memset(groups->unknown, 0xff, ((size_t)c->n_resources + 1) * sizeof(uint64_t));
    for (size_t i = 0; i < c->unknown_grants.n; i++)
        if (unknown[i].low < groups->unknown[unknown[i].resource])
            groups->unknown[unknown[i].resource] = unknown[i].low;
    for (size_t i = 0; i < c->holds.n; i++)
        if (!lb_holds(c)[i].is_piece)
            groups->first[lb_holds(c)[i].resource + 1]++;
    for (size_t i = 1; i <= c->n_resources; i++) {
        groups->first[i] += groups->first[i - 1];
        groups->next[i] = groups->first[i];
    }
    for (size_t i = 0; i < c->holds.n; i++) {
        const struct lb_hold *hold = &lb_holds(c)[c->order[i]];
        if (hold->is_piece)
            continue;
        /* Of those that start in one tick, empty cores can only come first. */
        size_t at = groups->next[hold->resource]++;
        for (; at > groups->first[hold->resource] && is_empty(hold); at--) {
            const struct lb_hold *other = &lb_holds(c)[groups->holds[at - 1]];
            if (other->start != hold->start || is_empty(other))
                break;
            groups->holds[at] = groups->holds[at - 1];
        }
        groups->holds[at] = c->order[i];
    }
}

/* When the release that ended the hold was answered ok; LB_NEVER: it was not. */
static uint64_t released(const struct lb_case *c, const struct lb_hold *hold)
{
    const struct lb_crowded_end key = {.hold = (uint32_t)(hold - lb_holds(c))};
    const struct lb_crowded_end *crowded =
        c->crowded_ends.n == 0
            ? NULL
            : bsearch(&key, c->crowded_ends.items, c->crowded_ends.n, sizeof key, lb_order_u32);
    if (crowded != NULL)
        return crowded->answered;
    uint64_t slack = lb_slack(c, hold->log);
    bool ends = false; /* the release under way is the one */
    for (uint32_t i = hold->event + 1; i < c->history->logs[hold->log].n_events; i++) {
        const struct lb_event *e = lb_case_event(c, hold->log, i);
        if (lb_low(e->time_ns, slack) > hold->end && !ends)
            break;
        if (e->op != LB_OP_RELEASE || e->object != hold->resource)
            continue;
        if (e->type == LB_EV_INVOKE)
            ends = lb_low(e->time_ns, slack) == hold->end;
        else if (ends)
            return e->type == LB_EV_OK ? lb_high(e->time_ns, slack) : LB_NEVER;
    }
    return LB_NEVER;
}

/* The latest time by which the hold before place at was released: of empty cores of one tick, any
 * may have been the last. */
static uint64_t latest_release(const struct lb_case *c, const struct groups *groups, size_t first,
                               size_t at)
{
    const struct lb_hold *holds = lb_holds(c), *last = &holds[groups->holds[at - 1]];
    uint64_t until = released(c, last);
    for (size_t i = at - 1; i > first && is_empty(last); i--) {
        const struct lb_hold *other = &holds[groups->holds[i - 1]];
        if (other->start != last->start)
            break;
        uint64_t one = released(c, other);
        until = one > until ? one : until;
    }
    return until;
}

/* The earliest request time of the hold at place at: the same with the first. */
static uint64_t earliest_asked(const struct lb_case *c, const struct groups *groups, size_t at,
                               size_t end)
{
    const struct lb_hold *holds = lb_holds(c), *next = &holds[groups->holds[at]];
    uint64_t from = lb_hold_asked(c, next);
    for (size_t i = at + 1; i < end && is_empty(next); i++) {
        const struct lb_hold *other = &holds[groups->holds[i]];
        if (other->start != next->start || !is_empty(other))
            break;
        uint64_t one = lb_hold_asked(c, other);
        from = one < from ? one : from;
    }
    return from;
}

/* at: how many holds of the resource start by the refusal's end, counted from first. */
static bool busy_justified(const struct lb_case *c, const struct groups *groups, size_t first,
                           size_t end, size_t at, const struct lb_refusal *refusal)
{
    const struct lb_hold *holds = lb_holds(c);
    const struct lb_hold *before = at > first ? &holds[groups->holds[at - 1]] : NULL;
    const struct lb_hold *after = at < end ? &holds[groups->holds[at]] : NULL;
    if (before != NULL && before->end >= refusal->low)
        return true;
    if (groups->unknown[refusal->object] <= refusal->high)
        return true;
    if (before != NULL) {
        uint64_t until = latest_release(c, groups, first, at);
        if (after != NULL && after->start < until)
            until = after->start;
        if (until >= refusal->low)
            return true;
    }
    if (after == NULL)
        return false;
    uint64_t from = earliest_asked(c, groups, at, end);
    if (before != NULL && before->end > from)
        from = before->end;
    return from <= refusal->high;
}

static void judge_busy(struct lb_case *c)
{
    const struct lb_refusal *refusals = c->refusals.items;
    struct groups groups;
    if (c->waiters.n > 0 || c->has_shared)
        return;
    if (c->crowded_ends.n > 0)
        qsort(c->crowded_ends.items, c->crowded_ends.n, sizeof(struct lb_crowded_end),
              lb_order_u32);
    groups_init(&groups, c);
    size_t at = 0;
    for (size_t i = 0; i < c->refusals.n; i++) {
        const struct lb_refusal *refusal = &refusals[i];
        if (c->model->capacity != NULL && c->model->capacity[refusal->object] > 1)
            continue;
        size_t first = groups.first[refusal->object], end = groups.first[refusal->object + 1];
        bool same = i > 0 && refusal->object == refusals[i - 1].object &&
                    refusal->log == refusals[i - 1].log && at >= first;
        size_t low = same ? at : first, high = end, step = 1;
        while (low + step < end && lb_holds(c)[groups.holds[low + step]].start <= refusal->high) {
            low += step; /* galloping: near the last one in most cases */
            step *= 2;
        }
        if (low + step < end)
            high = low + step;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (lb_holds(c)[groups.holds[middle]].start <= refusal->high)
                low = middle + 1;
            else
                high = middle;
        }
        at = low;
        if (!busy_justified(c, &groups, first, end, at, refusal))
            c->out->measures.n_refusals_unjustified++;
    }
    free(groups.holds);
    free(groups.first);
    free(groups.next);
    free(groups.unknown);
}

void lb_judge_answers(struct lb_case *c)
{
    if (c->refusals.n == 0 || !c->model->complete || c->history->truncated)
        return;
    if (c->model->queue)
        lb_judge_empty(c);
    else
        judge_busy(c);
}
