/* Fairness, and recovery from deaths. */
#include "judges.h"
#include "scan_logs.h"

#include "order.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>

/* --- fairness over workers --- */

/* Grants or items that a log got after the warm-up. */
static uint64_t successes(const struct lb_case *c, uint32_t log)
{
    const struct lb_log_facts *facts = &c->logs[log];
    if (c->model->queue || c->is_calm)
        return facts->n_successes;
    uint64_t n = facts->n_holds - facts->n_pieces;
    if (c->warm_ns == 0)
        return n;
    n = 0;
    for (size_t i = facts->first_hold; i < facts->first_hold + facts->n_holds; i++)
        n += !lb_holds(c)[i].is_piece && lb_holds(c)[i].start >= c->warm_ns;
    return n;
}

/* Jain's index (sum x)^2 / (n sum x^2): 1 when all are equal, 1/n when one has all. Gini's
 * coefficient: 0 when all are equal. Over the logs that asked for something. */
void lb_judge_fairness(struct lb_case *c)
{
    struct lb_measures *measures = &c->out->measures;
    measures->jain = 1;
    measures->gini = 0;
    double *x = lb_malloc((c->history->n_logs + 1) * sizeof *x);
    size_t n = 0;
    double sum = 0, squares = 0, weighted = 0;
    for (size_t i = 0; i < c->history->n_logs; i++)
        if (c->logs[i].n_attempts > 0)
            x[n++] = (double)successes(c, (uint32_t)i);
    qsort(x, n, sizeof *x, lb_order_double);
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
        squares += x[i] * x[i];
        weighted += (double)(i + 1) * x[i];
    }
    if (sum > 0) {
        double count = (double)n;
        measures->jain = sum * sum / (count * squares);
        measures->gini = 2 * weighted / (count * sum) - (count + 1) / count;
    }
    free(x);
}

/* --- recovery --- */

void lb_report_recovery(struct lb_case *c, const struct lb_recovery *recovery)
{
    struct lb_witness *witness = lb_violation(c, LB_G_RECOVERY);
    if (witness == NULL)
        return;
    char at[LB_AT], length[LB_AT], bound[LB_AT];
    lb_witness_add(c, witness, recovery->log, recovery->event);
    if (recovery->has_next)
        lb_witness_add(c, witness, recovery->next_log, recovery->next_event);
    witness->at_ns = recovery->death + c->model->recovery_bound_ns;
    lb_witness_text(witness, "%s died at %s %s; %s %s later; the bound is %s",
                    lb_who(c, recovery->log, LB_WHOM), lb_at(c, recovery->death, at, sizeof at),
                    recovery->had, recovery->came,
                    lb_format_ns(recovery->took_ns, length, sizeof length),
                    lb_format_ns(c->model->recovery_bound_ns, bound, sizeof bound));
}

/* --- of locks --- */

static void report_recovery(struct lb_case *c, const struct lb_hold *dead, uint64_t death,
                            const struct lb_hold *next, uint64_t took)
{
    char had[LB_AT];
    snprintf(had, sizeof had, "holding resource %u", dead->resource);
    lb_report_recovery(c, &(struct lb_recovery){.log = dead->log,
                                                .event = dead->event,
                                                .has_next = next != NULL,
                                                .next_log = next != NULL ? next->log : 0,
                                                .next_event = next != NULL ? next->event : 0,
                                                .death = death,
                                                .took_ns = took,
                                                .had = had,
                                                .came = next != NULL ? "the next grant was"
                                                                     : "no worker was granted it"});
}

struct death {
    uint64_t at; /* first: their order */
    uint32_t hold, next;
};

/* When it was known last that the worker had it: its grant, a renewal after a gap, or a grant
 * within it. */
static uint64_t known_last(const struct lb_case *c, uint32_t hold)
{
    const struct lb_hold *dead = &lb_holds(c)[hold];
    const struct lb_log_facts *facts = &c->logs[dead->log];
    const struct lb_inner *inner = c->inner.items;
    uint64_t last = dead->start;
    for (size_t i = hold; i < facts->first_hold + facts->n_holds; i++) {
        const struct lb_hold *piece = &lb_holds(c)[i];
        if (piece->is_piece && piece->event == dead->event && piece->start > last)
            last = piece->start;
    }
    for (size_t i = 0; i < c->inner.n; i++)
        if (inner[i].hold == hold && inner[i].start > last)
            last = inner[i].start;
    return last;
}

/* Was another worker granted the resource since, and before the death? */
static bool was_passed_on(const struct lb_case *c, uint32_t number)
{
    const struct lb_hold *dead = &lb_holds(c)[number];
    uint64_t death = c->logs[dead->log].death_ns, since = known_last(c, number);
    size_t low = 0, high = c->holds.n;
    while (low < high) { /* the first hold that starts after it */
        size_t middle = low + (high - low) / 2;
        if (lb_holds(c)[c->order[middle]].start <= since)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < c->holds.n && lb_holds(c)[c->order[low]].start <= death; low++) {
        const struct lb_hold *hold = &lb_holds(c)[c->order[low]];
        if (hold->log != dead->log && hold->resource == dead->resource && !hold->is_piece)
            return true;
    }
    return false;
}

static void collect_deaths(struct lb_case *c, struct lb_array *deaths)
{
    const uint32_t *open = c->open.items;
    for (size_t i = 0; i < c->open.n; i++) {
        const struct lb_hold *hold = &lb_holds(c)[open[i]];
        bool alone = lb_capacity_of(c->model, hold->resource) <= 1;
        if (!hold->is_dead || hold->is_shared || hold->is_piece ||
            (alone && was_passed_on(c, open[i])))
            continue;
        c->out->measures.n_deaths++;
        if (!alone) { /* others go on beside the dead: the next grant says nothing */
            c->out->measures.n_deaths_beside++;
            continue;
        }
        struct death *death = lb_array_push(deaths, sizeof *death);
        *death =
            (struct death){.at = c->logs[hold->log].death_ns, .hold = open[i], .next = LB_NONE};
    }
}

/* The first grant of the same resource that was answered after each death. deaths are in order of
 * time; those from first on that are known by now wait for theirs, and they are few. */
static void find_next(struct lb_case *c, struct death *deaths, size_t n)
{
    size_t known = 0, first = 0;
    for (size_t i = 0; i < c->holds.n; i++) {
        const struct lb_hold *hold = &lb_holds(c)[c->order[i]];
        while (known < n && deaths[known].at < hold->start)
            known++;
        for (size_t k = first; k < known && !hold->is_piece; k++)
            if (deaths[k].next == LB_NONE && c->order[i] != deaths[k].hold &&
                lb_holds(c)[deaths[k].hold].resource == hold->resource)
                deaths[k].next = c->order[i];
        while (first < known && deaths[first].next != LB_NONE)
            first++;
    }
}

void lb_measure_recovery(struct lb_case *c, uint64_t *took_ns, size_t n)
{
    struct lb_measures *measures = &c->out->measures;
    measures->n_recovered = n;
    if (n == 0)
        return;
    qsort(took_ns, n, sizeof *took_ns, lb_order_u64);
    /* The smallest length that at least this percentage does not exceed. */
    measures->p50_recovery_ns = took_ns[(n * 50 + 99) / 100 - 1];
    measures->p95_recovery_ns = took_ns[(n * 95 + 99) / 100 - 1];
    measures->max_recovery_ns = took_ns[n - 1];
}

int lb_judge_recovery(struct lb_case *c)
{
    struct lb_array array = {0}, lengths = {0};
    collect_deaths(c, &array);
    struct death *deaths = array.items;
    if (array.n > 0) {
        qsort(deaths, array.n, sizeof *deaths, lb_order_u64);
        find_next(c, deaths, array.n);
    }
    for (size_t i = 0; i < array.n; i++) {
        const struct lb_hold *next =
            deaths[i].next == LB_NONE ? NULL : &lb_holds(c)[deaths[i].next];
        uint64_t until = next != NULL ? next->start : c->end_ns;
        until = until < c->known_ns ? until : c->known_ns;
        uint64_t took = until > deaths[i].at ? until - deaths[i].at : 0;
        took -= lb_stalled_within(c, deaths[i].at, until);
        if (next != NULL)
            *(uint64_t *)lb_array_push(&lengths, sizeof took) = took;
        const struct lb_hold *dead = &lb_holds(c)[deaths[i].hold];
        uint64_t bound = c->model->recovery_bound_ns, from = deaths[i].at;
        if (bound > 0 && took > bound)
            from = lb_first_try(c, dead->log, dead->resource, deaths[i].at);
        lb_finding_of(c, LB_G_RECOVERY)->n_tested += next != NULL || (took > bound && from < until);
        bool has_cut = dead->cut > deaths[i].at && dead->cut < c->end_ns;
        const struct lb_recovery_wait wait = {.again = has_cut ? dead->cut : deaths[i].at,
                                              .from = from,
                                              .until = until,
                                              .bound_ns = bound,
                                              .object = dead->resource,
                                              .log = dead->log};
        if (bound > 0 && from < until && lb_is_late_recovery(c, LB_G_RECOVERY, &wait))
            report_recovery(c, dead, deaths[i].at, next, took);
    }
    lb_measure_recovery(c, lengths.items, lengths.n);
    free(lengths.items);
    free(array.items);
    return 0;
}
