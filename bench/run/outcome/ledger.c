/* The ledger: what the queue's own count says at the end, beside what the history says.
 *
 * All workers have ended, so the history alone gives the number of items in each state: items put,
 * minus items claimed, done or failed. A reset makes all done items pending again, clear-error and
 * clear-all-errors the failed ones; both run while no worker has an item, so their times separate
 * the others. An outcome that is unknown leaves the state unknown: then nothing is compared. Where
 * completed items are deleted (no reset-all), they are not counted, and are not compared.
 * Source: article of 1999 on a list of tasks in Oracle, which has these procedures.
 */
#include "proofs.h"

#include <stdio.h>

enum { PENDING, ACTIVE, DONE, FAILED };

int lb_ledger_check(const struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_scenario *scenario = run->request->scenario;
    const struct lb_strategy *strategy = run->request->strategy;
    const char *wanted = scenario->rounds > 0 ? "rounds" : "readers";
    bool operates = scenario->rounds > 1 && scenario->readers == 0;
    if (scenario->rounds == 0 && scenario->readers == 0)
        return 0;
    if (run->program == NULL || (!run->program->sections[LB_S_COUNT].present && !operates))
        return lb_fail(err, LB_E_UNSUPPORTED, "%s: %s has no count", wanted, strategy->name);
    if (scenario->rounds > 1 && !lb_strategy_has(&run->plan, LB_S_CLEAR_ALL_ERRORS) &&
        !lb_strategy_has(&run->plan, LB_S_RESET_ALL))
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "rounds: %s has neither clear-all-errors nor reset-all with these options "
                       "(where it has one, done=keep keeps what is done)",
                       strategy->name);
    return 0;
}

int lb_ledger_count(struct lb_active_run *run, struct lb_error *err)
{
    struct lb_runner runner = {0};
    if (run->outcome->state != LB_RUN_COMPLETE || !run->program->sections[LB_S_COUNT].present)
        return 0;
    lb_runner_init(&runner, run->program, &run->control, err);
    int rc = lb_count_items(&run->plan, &runner, run->counted, err);
    lb_runner_release(&runner);
    run->is_counted = rc == LB_OK;
    return rc < 0 ? rc : 0;
}

/* What happened, by the history. */
struct tally {
    uint64_t cleared_ns, reset_ns; /* the last times that all errors, and all done items, were */
    int64_t n[4];                  /* puts, and ends of claims by kind */
    int64_t n_claimed, n_ended;
    bool is_unknown;
};

/* The times come first: a second pass counts the events between them. */
static void note_time(const struct lb_event *e, struct tally *tally)
{
    if (e->type == LB_EV_OK && e->op == LB_OP_CLEAR_ALL && e->time_ns > tally->cleared_ns)
        tally->cleared_ns = e->time_ns;
    if (e->type == LB_EV_OK && e->op == LB_OP_RESET_ALL && e->time_ns > tally->reset_ns)
        tally->reset_ns = e->time_ns;
    if (e->type == LB_EV_INFO)
        tally->is_unknown = true;
}

static void note(const struct lb_event *e, struct tally *tally)
{
    bool is_end = e->op == LB_OP_COMPLETE || e->op == LB_OP_ERROR || e->op == LB_OP_FREE;
    if (e->op == LB_OP_ITEM)
        tally->n_claimed++;
    if (e->type != LB_EV_OK)
        return;
    if (e->op == LB_OP_PUT)
        tally->n[PENDING] += e->arg;
    else if (e->op == LB_OP_COMPLETE && e->time_ns > tally->reset_ns)
        tally->n[DONE]++;
    else if (e->op == LB_OP_ERROR && e->time_ns > tally->cleared_ns)
        tally->n[FAILED]++;
    else if (e->op == LB_OP_CLEAR_ERROR && e->time_ns > tally->cleared_ns)
        tally->n[FAILED]--;
    if (is_end)
        tally->n_ended++;
}

static void pass(const struct lb_history_view *view, struct tally *tally,
                 void (*look)(const struct lb_event *, struct tally *))
{
    for (size_t l = 0; l < view->n_logs; l++)
        for (size_t s = 0; s < view->logs[l].n_spans; s++)
            for (size_t i = 0; i < view->logs[l].spans[s].n; i++)
                look(&view->logs[l].spans[s].events[i], tally);
}

void lb_ledger_prove(const struct lb_active_run *run, const struct lb_history_view *view,
                     struct lb_proof *ret_proof)
{
    struct tally tally = {0};
    bool keeps_done = lb_strategy_has(&run->plan, LB_S_RESET_ALL);
    pass(view, &tally, note_time);
    pass(view, &tally, note);
    tally.n[ACTIVE] = tally.n_claimed - tally.n_ended;
    tally.n[PENDING] -= tally.n[ACTIVE] + tally.n[DONE] + tally.n[FAILED];
    bool right = true;
    for (int i = 0; i < LB_COUNTED; i++)
        right = right && (run->counted[i] == tally.n[i] || (i == DONE && !keeps_done));
    ret_proof->verdict = tally.is_unknown ? LB_V_NOT_TESTED : right ? LB_V_HELD : LB_V_VIOLATED;
    snprintf(ret_proof->name, sizeof ret_proof->name, "count");
    snprintf(ret_proof->text, sizeof ret_proof->text,
             "%s: count says pending %lld, active %lld, done %lld, failed %lld; the history says "
             "pending %lld, active %lld, done %lld%s, failed %lld%s",
             tally.is_unknown ? "not judged"
             : right          ? "the count is what happened"
                              : "the count is not what happened",
             (long long)run->counted[PENDING], (long long)run->counted[ACTIVE],
             (long long)run->counted[DONE], (long long)run->counted[FAILED],
             (long long)tally.n[PENDING], (long long)tally.n[ACTIVE], (long long)tally.n[DONE],
             keeps_done ? "" : " (deleted, so not compared)", (long long)tally.n[FAILED],
             tally.is_unknown ? "; an outcome is unknown" : "");
}
