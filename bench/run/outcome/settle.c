/* Computes the outcome of a run: counters, merged histograms, verdict. */
#include "settle.h"

#include "array.h"
#include "control.h"
#include "facts.h"
#include "intervals.h"
#include "joint.h"
#include "memory.h"
#include "model.h"
#include "parts.h"
#include "peers.h"
#include "proofs.h"
#include "readers.h"
#include "refused.h"
#include "settler.h"
#include "settling.h"
#include "text_clean.h"
#include "twice.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lb_run_add_fact(void *arg, const char *name, const char *value)
{
    struct lb_fact_list *list = arg;
    struct lb_fact *fact = lb_array_add(list->facts, list->n, sizeof *fact);
    *fact = (struct lb_fact){lb_strdup(name), lb_clean_copy(value, SIZE_MAX)};
}

void lb_run_take_counters(struct lb_active_run *run, struct lb_fact **ret, size_t *ret_n)
{
    const struct lb_db *db = run->team->db;
    struct lb_error ignored;
    struct lb_fact_list list = {ret, ret_n};
    if (db != NULL && db->counters != NULL && lb_control_has_connection(run))
        db->counters(run->control.conn, lb_run_add_fact, &list, &ignored);
}

bool lb_witnesses_agree(const struct lb_judgement *judgement, const struct lb_live_witness *live,
                        bool is_queue, bool is_timed)
{
    const struct lb_finding *exclusion =
        &judgement->findings[is_queue ? LB_G_NO_DUPLICATE : LB_G_EXCLUSIVE];
    bool seen = live->n_overlaps > 0 || live->n_lost_updates > 0 || live->hold_sum_exceeds;
    bool in_history = exclusion->n_violations > 0 || judgement->measures.n_uncut_violations > 0 ||
                      (is_timed && is_queue);
    return !seen || in_history;
}

/* Grants before or after the measured part are in the history and in none of the numbers: a run
 * without a measured success is not held. */
static void doubt_idle(struct lb_outcome *outcome)
{
    if (outcome->counts[LB_M_ACQUIRE].succeeded > 0 || outcome->n_items > 0)
        return;
    for (int i = 0; i < LB_GUARANTEES; i++) {
        struct lb_finding *finding = &outcome->judgement.findings[i];
        if (finding->verdict != LB_V_HELD)
            continue;
        finding->verdict = LB_V_NOT_TESTED;
        snprintf(finding->reason, sizeof finding->reason,
                 "%snothing was granted in the measured part",
                 outcome->state == LB_RUN_INTERRUPTED ? "interrupted: " : "");
    }
}

/* A user who sends a signal again while the history is judged, or has sent two before, does not
 * want to wait. */
struct patience {
    const struct lb_active_run *run;
    int n_before;
    uint64_t until_ns; /* after two signals before */
};

static bool has_no_patience(void *arg)
{
    const struct patience *patience = arg;
    int n = lb_control_interrupted(patience->run);
    return n > patience->n_before || (n > 1 && lb_now_ns() > patience->until_ns);
}

static int judge(const struct lb_active_run *run, struct lb_history_view *view,
                 const struct lb_model *model, struct lb_outcome *outcome, struct lb_error *err)
{
    int rc = run->peers != NULL
                 ? lb_judge_twice(view, model, &outcome->judgement, outcome->ranks.near, err)
                 : lb_check(view, model, &outcome->judgement, err);
    lb_facts_name_versions(run->request->file, &outcome->judgement);
    return rc;
}

/* The measurements stay; nothing was judged. */
static void give_up_verdicts(struct lb_outcome *outcome, const char *why)
{
    struct lb_finding *findings = outcome->judgement.findings;
    for (int i = 0; i < LB_GUARANTEES; i++)
        snprintf(findings[i].reason, sizeof findings[i].reason, "%.180s", why);
}

/* Without a rank's history, or with a clock that follows no bound, nothing is judged. */
static bool is_beyond_judging(struct lb_active_run *run)
{
    const struct lb_peers *peers = run->peers;
    struct lb_outcome *outcome = run->outcome;
    const char *why = peers->lost[0] != '\0' ? peers->lost : peers->astray;
    if (why[0] == '\0')
        return false;
    give_up_verdicts(outcome, why);
    if (peers->lost[0] == '\0' && outcome->state == LB_RUN_COMPLETE)
        lb_outcome_invalidate(outcome, "%s", why);
    return true;
}

/* Until there is a verdict. */
static void claim_untested(struct lb_active_run *run)
{
    struct lb_judgement *judgement = &run->outcome->judgement;
    for (int i = 0; i < LB_GUARANTEES; i++) {
        struct lb_finding *finding = &judgement->findings[i];
        finding->verdict = (run->request->strategy->claims & LB_G_BIT(i)) != 0 ? LB_V_NOT_TESTED
                                                                               : LB_V_NOT_CLAIMED;
        if (run->history == NULL)
            snprintf(finding->reason, sizeof finding->reason, "no history was recorded");
    }
    if (run->history == NULL)
        judgement->measures.n_restarts = atomic_load(&run->team->uptime.n);
}

/* Checks the scenario's own demands on the history. */
static void prove(struct lb_active_run *run, const struct lb_history_view *view)
{
    const struct lb_scenario *scenario = run->request->scenario;
    struct lb_proof *proof = &run->outcome->proof;
    if (scenario->shape == LB_LOCK && scenario->period_ns > 0)
        lb_periodic_prove(view, run->first_ns, scenario, proof);
    if (scenario->shape == LB_QUEUE && scenario->period_ns > 0 && scenario->backlog > 0)
        lb_overdue_tell(view, run->first_ns, run->stop_ns, scenario, proof);
    if (scenario->shape == LB_QUEUE && scenario->classes > 1)
        lb_classes_prove(run, proof);
    if (run->is_counted)
        lb_ledger_prove(run, view, proof);
}

/* True if no more items were lost than claims with a refused later statement may have taken. These
 * come back like a dead worker's: with the end of a lease, or by recover. */
static bool is_parted(const struct lb_active_run *run, uint64_t n_lost)
{
    const struct lb_strategy_plan *plan = &run->plan;
    uint64_t n_parted = lb_parts_sum(run).n_parted;
    for (uint32_t i = 0; i < run->n_started; i++)
        n_parted += run->workers[i].actor.runner.n_parted;
    return n_lost <= n_parted * run->request->scenario->batch &&
           (plan->strategy->is_lease || lb_strategy_has(plan, LB_S_RECOVER));
}

/* A violation that a clock that was set may have caused is none, and the run shows nothing. */
static void doubt_clock(struct lb_active_run *run)
{
    struct lb_outcome *outcome = run->outcome;
    const struct lb_clock_set *set = &outcome->judgement.measures.clock_set;
    struct lb_proof *proof = &outcome->proof;
    char text[LB_CLOCK_SET_TEXT];
    bool is_doubted = false;
    if (set->n == 0)
        return;
    lb_clock_set_text(set, outcome->start_ns, text);
    for (int g = 0; g < LB_GUARANTEES; g++)
        is_doubted |= outcome->judgement.findings[g].is_doubted &&
                      strcmp(outcome->judgement.findings[g].reason, text) == 0;
    /* Whether items went to workers of their class is no matter of time. */
    if (proof->verdict == LB_V_VIOLATED && run->request->scenario->classes < 2) {
        proof->verdict = LB_V_NOT_TESTED;
        snprintf(proof->text, sizeof proof->text, "not judged: %s", text);
        is_doubted = true;
    }
    if (is_doubted && outcome->state == LB_RUN_COMPLETE)
        lb_outcome_invalidate(outcome, "%s", text);
}

/* The verdict, and the scenario's own demands. */
static int judge_view(struct lb_active_run *run, struct lb_history_view *view,
                      const struct lb_settled *settled, struct patience *patience, uint64_t end_ns,
                      struct lb_error *err)
{
    struct lb_outcome *outcome = run->outcome;
    bool complete = outcome->state == LB_RUN_COMPLETE || outcome->state == LB_RUN_INVALID ||
                    outcome->state == LB_RUN_INTERRUPTED;
    struct lb_model model = lb_run_model(run, complete, end_ns);
    model.gives_up = has_no_patience;
    model.gives_up_arg = patience;
    model.settled = settled;
    int rc = lb_run_write_meta(run, &model, err);
    if (rc != 0)
        return rc;
    outcome->start_ns = view->start_ns;
    outcome->n_settled = settled != NULL ? lb_settled_events(settled) : 0;
    outcome->n_events = view->n_events + outcome->n_settled;
    lb_settler_explain(run);
    rc = judge(run, view, &model, outcome, err);
    /* Items of a claim whose later statement was refused come back with the end of its lease. */
    struct lb_finding *loss = &outcome->judgement.findings[LB_G_NO_LOSS];
    bool is_lost = rc == 0 && model.drained && loss->verdict == LB_V_VIOLATED;
    if (is_lost && is_parted(run, loss->n_violations)) {
        lb_facts_doubt_due(&model,
                           "some items were not claimed again: claims that had taken items were "
                           "refused by their next statement, and these items come back later");
        rc = lb_run_write_meta(run, &model, err);
        rc = rc != 0 ? rc : judge(run, view, &model, outcome, err);
    }
    if (rc == LB_E_INTERRUPTED) {
        give_up_verdicts(outcome, "interrupted while the history was judged");
        return 0;
    }
    if (rc != 0)
        return rc;
    doubt_idle(outcome);
    prove(run, view);
    doubt_clock(run);
    /* An overlap seen by a rank's own clock may be too short to be certain in the joint history. */
    const enum lb_guarantee exclusion = model.queue ? LB_G_NO_DUPLICATE : LB_G_EXCLUSIVE;
    bool is_timed = run->request->strategy->is_lease || run->request->scenario->recover_ns > 0;
    outcome->witnesses_agree =
        outcome->ranks.near[exclusion].n_violations > 0 ||
        lb_witnesses_agree(&outcome->judgement, &outcome->live, model.queue, is_timed);
    return 0;
}

int lb_run_judge(struct lb_active_run *run, struct lb_error *err)
{
    enum { SECOND_NS = 1000000000 };
    struct patience patience = {run, lb_control_interrupted(run), lb_now_ns() + SECOND_NS};
    struct lb_outcome *outcome = run->outcome;
    uint64_t end_ns = lb_now_ns();
    const struct lb_part elsewhere = lb_parts_sum(run);
    lb_live_result(run->live, end_ns - run->first_ns, &outcome->live);
    lb_live_add(&outcome->live, &elsewhere.live);
    outcome->witnesses_agree = true;
    claim_untested(run);
    if (run->history == NULL)
        return 0;
    lb_run_report(run, "checking", -1);
    struct lb_history_view view;
    const struct lb_settled *settled = lb_settler_result(run->settler);
    int rc = run->peers != NULL ? lb_joint_view(run, &view, err)
                                : lb_history_view(run->history, &view, err);
    if (rc != 0)
        return rc;
    if (run->peers == NULL || !is_beyond_judging(run))
        rc = judge_view(run, &view, settled, &patience, end_ns, err);
    lb_history_release(&view);
    return rc;
}

/* A killed worker has left its counters in the state of some instruction: its operation under way
 * is censored, and the attempt that it was counting is counted. An arrival that it had taken up and
 * not begun was not taken up. */
static void settle_dead(struct lb_worker *worker)
{
    for (int m = 0; m < LB_MEASURES; m++) {
        struct lb_counts *counts = &worker->counts[m];
        counts->attempts = 0;
        for (int a = 0; a < LB_ANSWERS; a++)
            counts->attempts += counts->answers[a];
        uint64_t buckets = worker->service[m]->overflow;
        for (size_t i = 0; counts->succeeded > 0 && i < LB_HISTOGRAM_BUCKETS; i++)
            buckets += worker->service[m]->buckets[i];
        worker->service[m]->count = buckets;
        counts->succeeded = buckets;
        counts->finished = counts->succeeded + counts->given_up;
        counts->censored =
            counts->started > counts->finished ? counts->started - counts->finished : 0;
        counts->started = counts->finished + counts->censored;
        if (counts->planned > 0)
            counts->planned = counts->started + counts->skipped;
    }
}

/* Grants in the measured part, also for requests before it: each wait reaches over an edge, and if
 * waits are long, far fewer began and ended inside than were granted. */
static uint64_t locks_granted(const struct lb_active_run *run)
{
    return run->last_successes - run->first_successes + lb_parts_sum(run).n_granted;
}

static void merge(struct lb_active_run *run)
{
    struct lb_outcome *outcome = run->outcome;
    outcome->n_workers = run->n_workers;
    outcome->n_faults = atomic_load(&run->team->n_faults);
    outcome->elapsed_ns = run->stop_ns - run->measure_ns;
    double busy_ns = 0, edge_ns = 0;
    for (uint32_t i = 0; i < run->n_started; i++) {
        struct lb_worker *worker = &run->workers[i];
        if (worker->died)
            settle_dead(worker);
        for (int m = 0; m < LB_MEASURES; m++) {
            const struct lb_counts *one = &worker->counts[m];
            lb_counts_add(&outcome->counts[m], one);
            if (!worker->owns_histograms)
                continue;
            /* Do not touch pages that were never written. */
            if (one->succeeded > 0 || run->team->n_carriers > 0)
                lb_histogram_add(outcome->service[m], worker->service[m]);
            if (outcome->response[m] != NULL && worker->response[m] != NULL)
                lb_histogram_add(outcome->response[m], worker->response[m]);
        }
        outcome->worker_successes[worker->seat] += worker->n_successes;
        outcome->n_items += worker->n_items;
        busy_ns += (double)worker->busy_ns;
        edge_ns += (double)worker->edge_ns;
        if (outcome->pacing != NULL && worker->owns_histograms)
            lb_histogram_add(outcome->pacing, worker->pacing);
        outcome->n_lost += worker->n_lost;
        outcome->n_statements += worker->n_statements;
        outcome->n_connects += worker->n_connects;
    }
    lb_parts_add(run, &busy_ns, &edge_ns);
    lb_readers_settle(run->readers, &outcome->counts[LB_M_READ], outcome->service[LB_M_READ]);
    const struct lb_counts *claims = &outcome->counts[LB_M_ACQUIRE];
    uint64_t successes = run->request->scenario->shape == LB_QUEUE ? outcome->n_items
                         : run->team->open_loop                    ? claims->succeeded
                                                                   : locks_granted(run);
    double seconds = (double)outcome->elapsed_ns / 1e9;
    outcome->in_flight = seconds > 0 ? busy_ns / (double)outcome->elapsed_ns : 0;
    outcome->in_flight_edge = busy_ns > 0 ? edge_ns / busy_ns : 0;
    outcome->successes_per_s = seconds > 0 ? (double)successes / seconds : 0;
    outcome->attempts_per_success =
        claims->succeeded > 0 ? (double)claims->attempts / (double)claims->succeeded : 0;
}

/* Little's law: operations under way = rate x mean time. Said only where the window's edges cannot
 * matter: where next to all of the time went into cycles that began and ended inside of it. */
static int assert_little(const struct lb_outcome *outcome, struct lb_error *err)
{
    const struct lb_counts *cycles = &outcome->counts[LB_M_CYCLE];
    enum { ENOUGH = 1000 };
    if (cycles->succeeded < ENOUGH || outcome->in_flight_edge > 0.01 || outcome->n_faults > 0)
        return 0;
    double rate = (double)cycles->succeeded / (double)outcome->elapsed_ns;
    double expected = rate * lb_histogram_mean(outcome->service[LB_M_CYCLE]);
    double difference = outcome->in_flight / expected - 1;
    if (difference < -0.02 || difference > 0.02)
        return lb_fail(err, LB_E_INTERNAL,
                       "Little's law: in flight %.4f != rate x mean cycle time %.4f",
                       outcome->in_flight, expected);
    return 0;
}

/* The counters are an algebra: a breach is a bug of ours and is named. */
static int assert_algebra(const struct lb_outcome *outcome, struct lb_error *err)
{
    for (int m = 0; m < LB_MEASURES; m++) {
        const struct lb_counts *c = &outcome->counts[m];
        const char *name = lb_measure_name((enum lb_measure)m);
        uint64_t answers = 0;
        for (int a = 0; a < LB_ANSWERS; a++)
            answers += c->answers[a];
        if (c->attempts != answers)
            return lb_fail(err, LB_E_INTERNAL, "%s: attempts %llu != sum of answers %llu", name,
                           (unsigned long long)c->attempts, (unsigned long long)answers);
        if (c->started != c->finished + c->censored)
            return lb_fail(err, LB_E_INTERNAL, "%s: started %llu != finished %llu + censored %llu",
                           name, (unsigned long long)c->started, (unsigned long long)c->finished,
                           (unsigned long long)c->censored);
        if (c->finished != c->succeeded + c->given_up)
            return lb_fail(err, LB_E_INTERNAL,
                           "%s: finished %llu != succeeded %llu + given up %llu", name,
                           (unsigned long long)c->finished, (unsigned long long)c->succeeded,
                           (unsigned long long)c->given_up);
        if (outcome->service[m]->count != c->succeeded)
            return lb_fail(err, LB_E_INTERNAL, "%s: histogram count %llu != succeeded %llu", name,
                           (unsigned long long)outcome->service[m]->count,
                           (unsigned long long)c->succeeded);
        if (c->planned != 0 && c->planned != c->started + c->skipped)
            return lb_fail(err, LB_E_INTERNAL, "%s: planned %llu != started %llu + skipped %llu",
                           name, (unsigned long long)c->planned, (unsigned long long)c->started,
                           (unsigned long long)c->skipped);
        uint64_t sum = outcome->service[m]->overflow;
        for (size_t i = 0; i < LB_HISTOGRAM_BUCKETS; i++)
            sum += outcome->service[m]->buckets[i];
        if (sum != outcome->service[m]->count)
            return lb_fail(err, LB_E_INTERNAL, "%s: sum of buckets %llu != count %llu", name,
                           (unsigned long long)sum, (unsigned long long)outcome->service[m]->count);
    }
    return 0;
}

void lb_run_subtract_counters(struct lb_active_run *run)
{
    struct lb_outcome *outcome = run->outcome;
    for (uint32_t i = 0; i < run->n_started; i++)
        outcome->n_successes_all += atomic_load(&run->workers[i].progress);
    outcome->n_successes_all += lb_parts_sum(run).n_successes;
    if (lb_fault_is(run->request->scenario->fault, LB_FAULT_IS_COMMANDED) ||
        atomic_load(&run->team->uptime.n) > 0)
        return; /* a server that was stopped at once has forgotten them; another has its own */
    lb_run_take_counters(run, &outcome->server, &outcome->n_server);
    for (size_t i = 0; i < outcome->n_server; i++) {
        long long after = strtoll(outcome->server[i].value, NULL, 10), before = 0;
        for (size_t k = 0; k < run->n_counters_before; k++)
            if (strcmp(run->counters_before[k].name, outcome->server[i].name) == 0)
                before = strtoll(run->counters_before[k].value, NULL, 10);
        free(outcome->server[i].value);
        outcome->server[i].value = lb_format("%lld", after - before);
    }
}

/* Heartbeats that never find a row keep no process alive: guarantees that depend on them were not
 * tested. */
static void judge_beats(struct lb_active_run *run)
{
    enum { ENOUGH = 20 };
    struct lb_outcome *outcome = run->outcome;
    uint64_t n = atomic_load(&run->team->n_beats);
    if (outcome->state != LB_RUN_COMPLETE || n < ENOUGH ||
        atomic_load(&run->team->n_beats_found) > 0)
        return;
    lb_outcome_invalidate(
        outcome,
        "section heartbeat found no row, %llu times of %llu, though the processes had "
        "registered or beaten in time: it protects no process, and guarantees that depend on "
        "it were not tested",
        (unsigned long long)n, (unsigned long long)n);
}

/* Without a fault, its effect was not tested. With several ranks, rank 0 knows all faults. If no
 * worker was granted anything, the verdicts say that. */
static void judge_faults(struct lb_active_run *run)
{
    struct lb_outcome *outcome = run->outcome;
    const struct lb_scenario *scenario = run->request->scenario;
    char took[32], interval[32];
    if (scenario->fault == LB_FAULT_NONE || outcome->n_faults > 0 || run->follower != NULL ||
        outcome->counts[LB_M_ACQUIRE].succeeded == 0 || outcome->state != LB_RUN_COMPLETE)
        return;
    outcome->lacks_fault = true;
    lb_outcome_invalidate(
        outcome,
        "no fault happened: the run was over after %s, and the fault %s was to come every %s; make "
        "it longer (--hold, --backlog, --duration), or --fault-interval shorter",
        lb_format_ns(outcome->elapsed_ns, took, sizeof took), lb_fault_name(scenario->fault),
        lb_format_ns(scenario->fault_interval_ns, interval, sizeof interval));
}

/* An open loop whose generator fell behind has measured itself. The bound is on the error of free
 * workers' wake-ups; arrivals that found all workers busy are the strategy's doing. */
static void judge_generator(struct lb_active_run *run)
{
    struct lb_outcome *outcome = run->outcome;
    enum { BOUND_NS = 5000000 };
    if (outcome->pacing == NULL || outcome->state != LB_RUN_COMPLETE)
        return;
    uint64_t p99 = lb_histogram_quantile(outcome->pacing, 0.99);
    char text[32], bound[32];
    if (p99 <= BOUND_NS)
        return;
    lb_outcome_invalidate(
        outcome,
        LB_LATE_GENERATOR ": free workers began %s late (p99; bound %s): lower the rate "
                          "or use a machine with more cores",
        lb_format_ns(p99, text, sizeof text), lb_format_ns(BOUND_NS, bound, sizeof bound));
}

/* Which workers were on which node, where there were several. */
static void take_nodes(struct lb_active_run *run)
{
    struct lb_fact_list list = {&run->outcome->nodes, &run->outcome->n_nodes};
    for (uint32_t i = 0; i < run->n_started; i++)
        for (int k = 0; k < LB_NODES_KEPT && run->workers[i].nodes[k][0] != '\0'; k++) {
            const char *node = run->workers[i].nodes[k];
            size_t n = 0;
            while (n < *list.n && strcmp((*list.facts)[n].name, node) != 0)
                n++;
            if (n == *list.n)
                lb_run_add_fact(&list, node, "");
            char **value = &(*list.facts)[n].value;
            char *text = lb_format("%s%s%u%s", *value, (*value)[0] != '\0' ? " " : "", i,
                                   k > 0 ? " (later)" : "");
            free(*value);
            *value = text;
        }
    if (*list.n == 1) {
        lb_facts_free(run->outcome->nodes, 1);
        run->outcome->nodes = NULL;
        run->outcome->n_nodes = 0;
    }
}

/* The outcome of the run, before the verdict. An error that ends everything is returned. */
int lb_run_settle(struct lb_active_run *run, struct lb_error *err)
{
    struct lb_outcome *outcome = run->outcome;
    const struct lb_error *error = lb_team_error(run->team);
    const struct lb_db *db = run->team->db;
    struct lb_error gone;
    /* Statements fail in many ways when their tables were dropped. */
    if ((error == NULL || error->code != LB_E_ENV) && db != NULL && db->space_look != NULL &&
        db->space_look(run->space, &gone) < 0)
        error = &gone;
    if (error != NULL && error->code == LB_E_ENV) {
        /* The environment failed, not the run: the results so far are reported. */
        outcome->state = LB_RUN_SERVER_GONE;
        snprintf(outcome->reason, sizeof outcome->reason, "%s", error->message);
    } else if (error != NULL) {
        *err = *error;
        return error->code;
    } else if (lb_control_interrupted(run)) {
        outcome->state = LB_RUN_INTERRUPTED;
        snprintf(outcome->reason, sizeof outcome->reason, "interrupted after %.1f s",
                 (double)(run->stop_ns - run->measure_ns) / 1e9);
    }
    merge(run);
    take_nodes(run);
    lb_refused_judge(run);
    judge_generator(run);
    judge_beats(run);
    judge_faults(run);
    lb_parts_invalidate(run);
    lb_run_count_due(run);
    int rc = assert_algebra(outcome, err);
    return rc != 0 ? rc : assert_little(outcome, err);
}
