/* A part of each history is settled and dropped, twice, at any two times: the verdicts must be
 * those of the whole history. */
#include "queue_search.h"

#include "settling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct settled_tally settled_tally;

/* How many events of a log are recorded by a time. */
static size_t seen_by(uint32_t log, uint64_t time)
{
    size_t n = 0;
    while (n < history.n[log] && history.events[log][n].time_ns <= time)
        n++;
    return n;
}

/* The record: kept events, and the place in the whole log behind them. */
struct record {
    struct lb_event events[MAX_LOGS][MAX_EVENTS];
    size_t n[MAX_LOGS], at[MAX_LOGS];
};

static struct record record;

/* Of what each log has by a time, a part may be dropped. */
static void settle(struct lb_settled *settled, struct lb_random *random, uint64_t time)
{
    struct lb_settle_log logs[MAX_LOGS];
    uint64_t until = chance(random, 50) ? time : below(random, (uint32_t)(time + 1));
    for (uint32_t log = 0; log < MAX_LOGS; log++) {
        size_t seen = seen_by(log, time), n = record.at[log];
        seen = seen > n ? seen : n;
        n += chance(random, 50) ? seen - n : below(random, (uint32_t)(seen - n + 1));
        logs[log] = (struct lb_settle_log){.events = record.events[log],
                                           .n = record.n[log] + n - record.at[log],
                                           .n_seen = record.n[log] + seen - record.at[log]};
        memcpy(&record.events[log][record.n[log]], &history.events[log][record.at[log]],
               (seen - record.at[log]) * sizeof record.events[log][0]);
        record.at[log] = n;
    }
    lb_settle(settled, &history.model, logs, MAX_LOGS, until);
    for (uint32_t log = 0; log < MAX_LOGS; log++)
        record.n[log] = logs[log].n;
}

static void append_rest(struct lb_history_view *view, struct lb_log_view *logs,
                        struct lb_span *spans)
{
    *view = history.view;
    view->logs = logs;
    view->n_events = 0;
    for (uint32_t log = 0; log < MAX_LOGS; log++) {
        size_t rest = history.n[log] - record.at[log];
        memcpy(&record.events[log][record.n[log]], &history.events[log][record.at[log]],
               rest * sizeof record.events[log][0]);
        record.n[log] += rest;
        spans[log] = (struct lb_span){record.events[log], record.n[log]};
        logs[log] = (struct lb_log_view){.number = log,
                                         .n_spans = record.n[log] > 0,
                                         .spans = &spans[log],
                                         .n_events = record.n[log]};
        view->n_events += record.n[log];
    }
}

/* The verdict is that of the whole, or "not tested" because of the dropped part, which is counted.
 */
static bool is_same(const struct lb_finding *whole, const struct lb_finding *rest)
{
    if (rest->verdict == whole->verdict && rest->n_tested == whole->n_tested)
        return rest->verdict != LB_V_VIOLATED || rest->n_violations == whole->n_violations ||
               ++settled_tally.n_fewer > 0;
    bool is_untold = rest->verdict == LB_V_NOT_TESTED && strstr(rest->reason, "dropped") != NULL;
    settled_tally.n_untold += is_untold;
    return is_untold || (whole->verdict == LB_V_VIOLATED && rest->verdict == LB_V_VIOLATED);
}

static void compare_judgements(const struct shape *shape, const struct lb_judgement *whole,
                               const struct lb_judgement *rest)
{
    const struct lb_measures *a = &whole->measures, *b = &rest->measures;
    bool is_equal = a->n_claims == b->n_claims && a->n_empty == b->n_empty &&
                    a->n_refusals == b->n_refusals && a->longest_wait_ns == b->longest_wait_ns &&
                    a->jain == b->jain && a->gini == b->gini && a->n_deaths == b->n_deaths;
    for (int g = 0; g < LB_GUARANTEES && is_equal; g++) {
        is_equal = whole->findings[g].verdict == LB_V_NOT_CLAIMED
                       ? rest->findings[g].verdict == LB_V_NOT_CLAIMED
                       : is_same(&whole->findings[g], &rest->findings[g]);
        if (is_equal)
            continue;
        print_history(&history);
        fail_msg("%s: %s: %s (%s), and %s (%s) where a part was settled; tested %llu, %llu",
                 shape->name, lb_guarantee_name((enum lb_guarantee)g),
                 lb_verdict_name(whole->findings[g].verdict), whole->findings[g].witness[0].text,
                 lb_verdict_name(rest->findings[g].verdict),
                 rest->findings[g].verdict == LB_V_VIOLATED ? rest->findings[g].witness[0].text
                                                            : rest->findings[g].reason,
                 (unsigned long long)whole->findings[g].n_tested,
                 (unsigned long long)rest->findings[g].n_tested);
    }
    if (is_equal)
        return;
    print_history(&history);
    fail_msg(
        "%s: other counts where a part was settled: %llu claims and %llu, %llu empty and %llu, "
        "%llu refused and %llu, longest wait %llu and %llu, fairness %g and %g, %llu deaths and "
        "%llu",
        shape->name, (unsigned long long)a->n_claims, (unsigned long long)b->n_claims,
        (unsigned long long)a->n_empty, (unsigned long long)b->n_empty,
        (unsigned long long)a->n_refusals, (unsigned long long)b->n_refusals,
        (unsigned long long)a->longest_wait_ns, (unsigned long long)b->longest_wait_ns, a->jain,
        b->jain, (unsigned long long)a->n_deaths, (unsigned long long)b->n_deaths);
}

/* Some answers "empty" become refusals for contention: the worker waits on. */
static void refuse_some(struct lb_random *random)
{
    static const uint8_t answers[] = {LB_BUSY, LB_TIMEOUT, LB_CONFLICT, LB_DEADLOCK, LB_OTHER};
    for (uint32_t log = 0; log < MAX_LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++) {
            struct lb_event *e = &history.events[log][i];
            if (e->op == LB_OP_CLAIM && e->type == LB_EV_FAIL && chance(random, 60))
                e->answer = answers[below(random, sizeof answers)];
        }
}

void compare_settled(const struct shape *shape, struct lb_random *random)
{
    static struct lb_judgement whole, rest;
    static struct lb_event events[MAX_LOGS][MAX_EVENTS];
    const struct lb_model before = history.model;
    uint64_t last = 0, first;
    struct lb_error err = {0};
    if (shape->uncertainty_ns > 0 || shape->strict || history.view.truncated)
        return;
    for (uint32_t log = 0; log < MAX_LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++)
            last = history.events[log][i].time_ns > last ? history.events[log][i].time_ns : last;
    history.model.claims = lb_guarantees_with(LB_GUARANTEE_IS_FOR_QUEUES) &
                           lb_guarantees_with(LB_GUARANTEE_IS_OF_ONE_ITEM);
    history.model.progress_bound_ns = (1 + below(random, 4)) * shape->tick;
    memcpy(events, history.events, sizeof events);
    if (lb_settle_refusal(&history.model) == NULL) {
        refuse_some(random);
        assert_int_equal(judge_history(&history, &whole, &err), 0);
        struct lb_settled *settled = lb_settled_new();
        struct lb_history_view view;
        struct lb_log_view logs[MAX_LOGS];
        struct lb_span spans[MAX_LOGS];
        assert_non_null(settled);
        memset(record.n, 0, sizeof record.n);
        memset(record.at, 0, sizeof record.at);
        first = below(random, (uint32_t)(last + 1));
        settle(settled, random, first);
        settle(settled, random, first + below(random, (uint32_t)(last - first + 1)));
        append_rest(&view, logs, spans);
        history.model.settled = settled;
        assert_int_equal(lb_check(&view, &history.model, &rest, &err), 0);
        settled_tally.n++;
        settled_tally.n_dropped += lb_settled_events(settled) > 0;
        settled_tally.n_violated += whole.findings[LB_G_NO_DUPLICATE].verdict == LB_V_VIOLATED;
        compare_judgements(shape, &whole, &rest);
        lb_settled_free(settled);
    }
    memcpy(history.events, events, sizeof events);
    history.model = before;
}
