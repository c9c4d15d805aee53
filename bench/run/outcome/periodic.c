/* The periodic job: a lock that is a scheduler as well. One run in each period, by whichever node
 * asks first when the job is due.
 *
 * Judged from the history alone, so that neither a slow machine nor a wrong clock causes a
 * violation. A grant took effect at some time between its invoke and its ok:
 *   twice   two grants whose times are certainly less than a period apart, and the first one's node
 *           neither died in its run nor outlived its lease (both must be picked up: a dead node
 *           cannot be distinguished from a slow one)
 *   missed a node asked, a whole period after the job was due at the latest, and was refused; no
 *   other node had been granted it in between. Due is a period after the grant before, not
 *           before its release, and a lease after it where its node died or is not known to have
 *           released. A job that never ran is due from the start. Without a request there is no
 *           miss.
 * The database's clock need not tick as finely as ours: two milliseconds are forgiven.
 * Source: article of 2012 on scheduled jobs in a cluster.
 */
#include "proofs.h"

#include "array.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>

#define CLOCKS_NS UINT64_C(2000000)

/* An acquire that was answered. */
struct attempt {
    uint64_t low, high; /* invoke, answer */
    uint64_t end_ns;    /* grant: its release's answer; UINT64_MAX: not known to be released */
    uint32_t log, resource;
    bool is_grant, is_unknown, is_released, is_dead;
};

struct tally {
    uint64_t n_runs, n_twice, n_missed, n_dead, n_outlived, n_picked_up, max_pick_up_ns;
    struct attempt first, second; /* of the first two runs in one period */
    uint64_t missed_at_ns;        /* the first refusal that told of a miss */
};

/* Grants by their ok, refusals by their invoke: events sorted before a refusal came before it. */
static uint64_t key_of(const struct attempt *t)
{
    return t->is_grant ? t->high : t->low;
}

static int by_key(const void *a, const void *b)
{
    const struct attempt *x = a, *y = b;
    if (x->resource != y->resource)
        return x->resource < y->resource ? -1 : 1;
    uint64_t p = key_of(x), q = key_of(y);
    return (p > q) - (p < q);
}

/* The tries of one log. */
static void scan_log(const struct lb_log_view *log, struct lb_array *tries)
{
    uint64_t acquire_ns = 0;
    size_t held = SIZE_MAX;
    for (size_t s = 0; s < log->n_spans; s++) {
        for (size_t i = 0; i < log->spans[s].n; i++) {
            const struct lb_event *e = &log->spans[s].events[i];
            if (e->op == LB_OP_RELEASE && held != SIZE_MAX) {
                struct attempt *grant = (struct attempt *)tries->items + held;
                grant->is_released = true;
                if (e->type == LB_EV_OK)
                    grant->end_ns = e->time_ns;
            }
            if (e->op != LB_OP_ACQUIRE)
                continue;
            if (e->type == LB_EV_INVOKE) {
                acquire_ns = e->time_ns;
                continue;
            }
            if (e->type == LB_EV_FAIL && e->answer != LB_BUSY)
                continue; /* contention on the statement, independent of the job */
            struct attempt *t = lb_array_push(tries, sizeof *t);
            *t = (struct attempt){.low = acquire_ns,
                                  .high = e->time_ns,
                                  .end_ns = UINT64_MAX,
                                  .log = log->number,
                                  .resource = e->object,
                                  .is_grant = e->type != LB_EV_FAIL,
                                  .is_unknown = e->type == LB_EV_INFO};
            held = t->is_grant ? tries->n - 1 : held;
        }
    }
}

static void mark_dead(const struct lb_history_view *view, struct attempt *tries, size_t n)
{
    for (size_t l = 0; l < view->n_logs; l++)
        for (size_t s = 0; s < view->logs[l].n_spans; s++)
            for (size_t i = 0; i < view->logs[l].spans[s].n; i++) {
                const struct lb_event *e = &view->logs[l].spans[s].events[i];
                for (size_t k = 0; e->op == LB_OP_DEATH && k < n; k++)
                    if (tries[k].log == e->arg && tries[k].is_grant && !tries[k].is_released)
                        tries[k].is_dead = true;
            }
}

/* When the job is due again after that grant, at the latest. */
static uint64_t due_after(const struct attempt *grant, const struct lb_scenario *scenario)
{
    uint64_t period = grant->high + scenario->period_ns;
    uint64_t lease = grant->high + scenario->ttl_ns;
    uint64_t due = period > lease ? period : lease;
    if (grant->end_ns != UINT64_MAX)
        due = period > grant->end_ns ? period : grant->end_ns;
    else if (grant->is_dead)
        due = lease;
    else if (scenario->renew_ns > 0)
        return UINT64_MAX;
    return due + CLOCKS_NS;
}

/* May the lease of a have been over, unreleased, when b was granted? */
static bool may_be_pick_up(const struct attempt *a, const struct attempt *b, uint64_t ttl_ns)
{
    uint64_t over = a->low + ttl_ns;
    return a->end_ns > over && b->high + CLOCKS_NS > over;
}

static void judge_pair(const struct attempt *a, const struct attempt *b,
                       const struct lb_scenario *scenario, struct tally *tally)
{
    uint64_t apart = b->high - a->low;
    if (a->high - b->low > apart && a->high > b->low)
        apart = a->high - b->low;
    if (a->is_dead || a->is_unknown || b->is_unknown || apart + CLOCKS_NS >= scenario->period_ns)
        return;
    if (may_be_pick_up(a, b, scenario->ttl_ns)) {
        tally->n_outlived++;
        return;
    }
    if (tally->n_twice++ == 0) {
        tally->first = *a;
        tally->second = *b;
    }
}

/* One resource's tries, in order. */
static void judge_resource(const struct attempt *tries, size_t n, uint64_t start_ns,
                           const struct lb_scenario *scenario, struct tally *tally)
{
    const uint64_t period_ns = scenario->period_ns;
    uint64_t due = start_ns, missed = 0;
    const struct attempt *last = NULL;
    for (size_t i = 0; i <= n; i++) {
        if (i == n || tries[i].is_grant) {
            tally->n_missed += missed;
            missed = 0;
        }
        if (i == n)
            break;
        const struct attempt *t = &tries[i];
        if (t->is_grant) {
            if (last != NULL)
                judge_pair(last, t, scenario, tally);
            if (last != NULL && last->is_dead) {
                tally->n_picked_up++;
                uint64_t took = t->high - last->high;
                tally->max_pick_up_ns = took > tally->max_pick_up_ns ? took : tally->max_pick_up_ns;
            }
            tally->n_runs += !t->is_unknown;
            tally->n_dead += t->is_dead;
            last = t;
            due = due_after(t, scenario);
            continue;
        }
        size_t next = i + 1;
        while (next < n && !tries[next].is_grant)
            next++;
        if (due == UINT64_MAX || t->low < due + period_ns ||
            (next < n && t->high > tries[next].low))
            continue;
        if (tally->n_missed + missed == 0)
            tally->missed_at_ns = t->low;
        missed = (t->low - due) / period_ns;
    }
}

static void tell(const struct tally *tally, const struct lb_scenario *scenario, uint64_t start_ns,
                 struct lb_proof *proof)
{
    char period[32], example[160] = "", dead[120] = "", slow[80] = "", a[32], b[32];
    bool broken = tally->n_twice > 0 || tally->n_missed > 0;
    proof->verdict = broken ? LB_V_VIOLATED : tally->n_runs < 2 ? LB_V_NOT_TESTED : LB_V_HELD;
    const char *head = broken                        ? "not one run in each period"
                       : proof->verdict == LB_V_HELD ? "one run in each period"
                                                     : "not judged, fewer than two runs";
    if (tally->n_twice > 0)
        snprintf(example, sizeof example, "; worker %u ran it at %s, and worker %u at %s",
                 tally->first.log, lb_format_ns(tally->first.high - start_ns, a, sizeof a),
                 tally->second.log, lb_format_ns(tally->second.high - start_ns, b, sizeof b));
    else if (tally->n_missed > 0)
        snprintf(example, sizeof example, "; at %s it had been due for a period, and was refused",
                 lb_format_ns(tally->missed_at_ns - start_ns, a, sizeof a));
    if (tally->n_dead > 0)
        snprintf(dead, sizeof dead,
                 "; %llu nodes died in their run, %llu of these runs were picked up, within %s",
                 (unsigned long long)tally->n_dead, (unsigned long long)tally->n_picked_up,
                 lb_format_ns(tally->max_pick_up_ns, a, sizeof a));
    if (tally->n_outlived > 0)
        snprintf(slow, sizeof slow, "; %llu nodes outlived their lease and were succeeded",
                 (unsigned long long)tally->n_outlived);
    snprintf(proof->text, sizeof proof->text,
             "%s: %llu runs of a job with a period of %s; %llu times twice in one period, %llu "
             "periods missed%s%s%s",
             head, (unsigned long long)tally->n_runs,
             lb_format_ns(scenario->period_ns, period, sizeof period),
             (unsigned long long)tally->n_twice, (unsigned long long)tally->n_missed, example, dead,
             slow);
}

void lb_periodic_prove(const struct lb_history_view *view, uint64_t start_ns,
                       const struct lb_scenario *scenario, struct lb_proof *ret_proof)
{
    struct lb_array tries = {0};
    struct tally tally = {0};
    snprintf(ret_proof->name, sizeof ret_proof->name, "schedule");
    for (size_t l = 0; l < view->n_logs; l++)
        scan_log(&view->logs[l], &tries);
    struct attempt *all = tries.items;
    mark_dead(view, all, tries.n);
    if (tries.n > 0)
        qsort(all, tries.n, sizeof *all, by_key);
    for (size_t first = 0, i = 0; i < tries.n; i++) {
        if (i + 1 < tries.n && all[i + 1].resource == all[first].resource)
            continue;
        judge_resource(all + first, i + 1 - first, start_ns, scenario, &tally);
        first = i + 1;
    }
    tell(&tally, scenario, view->start_ns, ret_proof);
    free(all);
}
