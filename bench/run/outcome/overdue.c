/* Recurring check-out: are the records taken when they are due?
 *
 * no-duplicate says whether one came too early. This tells late: how many were due and done in a
 * second, how long the longest was overdue, and how many workers the work needs: the records times
 * the time that one takes, over the period. A record is due from the start, and again a period
 * after it was completed. If a record waits for longer than a period, the workers have fallen
 * behind. That depends on the load and the machine, and is no violation: it is reported, but not
 * judged.
 *
 * Source: question on checking out records: 1,000 records every 15 minutes, 1.5 minutes each.
 */
#include "proofs.h"

#include "array.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>

struct turn {
    uint64_t id, time_ns;
    enum lb_op op;
};

struct lateness {
    uint64_t n_done, service_ns, longest_ns;
};

static bool is_turn(const struct lb_event *e)
{
    return e->op == LB_OP_ITEM ||
           ((e->op == LB_OP_COMPLETE || e->op == LB_OP_FREE || e->op == LB_OP_ERROR) &&
            e->type == LB_EV_OK);
}

static int by_id_and_time(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void wait_of(struct lateness *late, uint64_t due_ns, uint64_t until_ns)
{
    if (until_ns > due_ns && until_ns - due_ns > late->longest_ns)
        late->longest_ns = until_ns - due_ns;
}

/* One record's turns, in order. due: UINT64_MAX while a worker has it, and after an error. */
static void follow(const struct turn *turns, size_t n, uint64_t start_ns, uint64_t end_ns,
                   uint64_t period_ns, struct lateness *late)
{
    uint64_t due = start_ns, claimed = 0;
    for (size_t i = 0; i < n && turns[i].time_ns <= end_ns; i++) {
        if (turns[i].op == LB_OP_ITEM) {
            wait_of(late, due, turns[i].time_ns);
            claimed = turns[i].time_ns;
            due = UINT64_MAX;
        } else if (turns[i].op == LB_OP_COMPLETE) {
            late->n_done++;
            late->service_ns += turns[i].time_ns - claimed;
            due = turns[i].time_ns + period_ns;
        } else {
            due = turns[i].op == LB_OP_FREE ? turns[i].time_ns : UINT64_MAX;
        }
    }
    wait_of(late, due, end_ns);
}

static void tell(const struct lateness *late, const struct lb_scenario *scenario,
                 uint64_t elapsed_ns, struct lb_proof *proof)
{
    char longest[32], period[32], service[32];
    double period_s = (double)scenario->period_ns / 1e9;
    uint64_t mean_ns = late->n_done > 0 ? late->service_ns / late->n_done : 0;
    double needed = (double)scenario->backlog * (double)mean_ns / (double)scenario->period_ns;
    bool behind = late->longest_ns > scenario->period_ns;
    proof->verdict = behind || late->n_done == 0 ? LB_V_NOT_TESTED : LB_V_HELD;
    snprintf(proof->text, sizeof proof->text,
             "%s: %.4g records due per second, %.4g done; the longest overdue for %s, of a period "
             "of %s; at %s each this needs at least %.0f workers, and there are %llu",
             behind ? "falls behind" : "keeps up", (double)scenario->backlog / period_s,
             (double)late->n_done / ((double)elapsed_ns / 1e9),
             lb_format_ns(late->longest_ns, longest, sizeof longest),
             lb_format_ns(scenario->period_ns, period, sizeof period),
             lb_format_ns(mean_ns, service, sizeof service), needed < 1 ? 1 : needed + 0.4999,
             (unsigned long long)scenario->workers);
}

void lb_overdue_tell(const struct lb_history_view *view, uint64_t start_ns, uint64_t end_ns,
                     const struct lb_scenario *scenario, struct lb_proof *ret_proof)
{
    struct lb_array turns = {0};
    struct lateness late = {0};
    snprintf(ret_proof->name, sizeof ret_proof->name, "schedule");
    for (size_t l = 0; l < view->n_logs; l++)
        for (size_t s = 0; s < view->logs[l].n_spans; s++)
            for (size_t i = 0; i < view->logs[l].spans[s].n; i++) {
                const struct lb_event *e = &view->logs[l].spans[s].events[i];
                if (is_turn(e))
                    *(struct turn *)lb_array_push(&turns, sizeof(struct turn)) = (struct turn){
                        .id = e->value, .time_ns = e->time_ns, .op = (enum lb_op)e->op};
            }
    struct turn *all = turns.items;
    if (turns.n > 0)
        qsort(all, turns.n, sizeof *all, by_id_and_time);
    uint64_t n_seen = 0;
    for (size_t first = 0, i = 0; i < turns.n; i++) {
        if (i + 1 < turns.n && all[i + 1].id == all[first].id)
            continue;
        follow(all + first, i + 1 - first, start_ns, end_ns, scenario->period_ns, &late);
        n_seen++;
        first = i + 1;
    }
    if (n_seen < scenario->backlog) /* a record was never taken */
        wait_of(&late, start_ns, end_ns);
    tell(&late, scenario, end_ns - start_ns, ret_proof);
    free(all);
}
