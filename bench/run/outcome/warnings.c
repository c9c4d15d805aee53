/* Warnings about a run that no verdict covers: sessions that another user ended, processes that
 * died, statements that the server refused, work that was not done. A reader who sees "held" must
 * see these as well.
 */
#include "warnings.h"

#include "books.h"
#include "control.h"
#include "intervals.h"
#include "peers.h"
#include "refused.h"
#include "units.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void warn(struct lb_outcome *outcome,
                                                       const char *format, ...)
{
    va_list args;
    if (outcome->n_warnings == LB_WARNINGS)
        return;
    char *text = outcome->warnings[outcome->n_warnings++];
    va_start(args, format);
    vsnprintf(text, sizeof outcome->warnings[0], format, args);
    va_end(args);
}

static const char *when(const struct lb_active_run *run, uint64_t at_ns, char *buf, size_t size)
{
    return lb_format_ns(at_ns > run->first_ns ? at_ns - run->first_ns : 0, buf, size);
}

/* Workers that were still at something long after the run had ended. */
static void warn_of_the_stuck(struct lb_active_run *run)
{
    uint32_t n = 0, first = 0;
    char others[40] = "";
    for (uint32_t i = run->n_started; i-- > 0;)
        if (run->workers[i].died && run->workers[i].is_given_up) {
            first = run->workers[i].number;
            n++;
        }
    if (n > 1)
        snprintf(others, sizeof others, ", nor those of %u others", n - 1);
    if (n > 0)
        warn(run->outcome,
             "the process of worker %u did not end with the run%s, and was killed: its operation "
             "has no outcome",
             first, others);
}

static void warn_of_deaths(struct lb_active_run *run)
{
    uint64_t n = 0;
    char at[32], how[48] = "";
    const struct lb_worker *first = NULL;
    for (uint32_t i = 0; i < run->n_started; i++) {
        const struct lb_worker *worker = &run->workers[i];
        if (!worker->died || worker->is_given_up || atomic_load(&worker->dying))
            continue;
        n++;
        if (first == NULL || worker->died_ns < first->died_ns)
            first = worker;
    }
    if (n == 0)
        return;
    if (first->death_signal != 0)
        snprintf(how, sizeof how, "was killed by signal %d", first->death_signal);
    else
        snprintf(how, sizeof how, "ended by itself");
    warn(run->outcome,
         "the process of worker %u %s at %s%s, not by this run: the others went on without; "
         "no number of this run is that of %u workers",
         first->number, how, when(run, first->died_ns, at, sizeof at),
         n > 1 ? ", and others died too" : "", run->share.n_workers);
    if (run->outcome->state == LB_RUN_COMPLETE)
        lb_outcome_invalidate(run->outcome, "%llu worker process%s died: worker %u %s at %s",
                              (unsigned long long)n, n == 1 ? "" : "es", first->number, how, at);
}

static void warn_of_restarts(struct lb_active_run *run)
{
    struct lb_uptime *uptime = &run->team->uptime;
    uint64_t n = atomic_load(&uptime->n);
    char at[32], times[40] = "";
    if (n > 1)
        snprintf(times, sizeof times, ", the first of %llu times", (unsigned long long)n);
    if (n > 0)
        warn(run->outcome,
             "the database server was started anew, as was seen at %s%s: it crashed, or another "
             "user "
             "stopped it, and not this run; no number of this run is that of a server that was up "
             "all the time",
             when(run, atomic_load(&uptime->seen_ns), at, sizeof at), times);
}

static void warn_of_clocks(struct lb_active_run *run)
{
    struct lb_outcome *outcome = run->outcome;
    const struct lb_clock_set *set = &outcome->judgement.measures.clock_set;
    char text[LB_CLOCK_SET_TEXT];
    if (set->n > 0 && strcmp(lb_clock_set_text(set, outcome->start_ns, text), outcome->reason) != 0)
        warn(outcome, "%s", text);
}

static void warn_of_sessions(struct lb_active_run *run)
{
    struct lb_first *lost = &run->team->lost;
    uint64_t n = atomic_load(&lost->n);
    char at[32];
    if (atomic_load(&lost->state) == 2 &&
        !lb_fault_is(run->request->scenario->fault, LB_FAULT_IS_AN_END))
        warn(run->outcome,
             "%llu session%s ended by the server or another user, the first at %s: %s",
             (unsigned long long)n, n == 1 ? " was" : "s were",
             when(run, lost->at_ns, at, sizeof at), lost->text);
}

static void warn_of_refusals(struct lb_active_run *run)
{
    struct lb_first *refused = &run->team->refused;
    struct lb_refused of = lb_refused_of(run);
    char at[32], share[80] = "";
    if (of.is_much && run->outcome->state == LB_RUN_INVALID)
        return; /* that is why */
    if (of.what != NULL)
        snprintf(share, sizeof share, " (%llu of %llu measured %s)", (unsigned long long)of.n,
                 (unsigned long long)of.n_tries, of.what);
    if (atomic_load(&refused->state) == 2 && run->request->scenario->fault != LB_FAULT_FULL)
        warn(run->outcome,
             "the server refused an operation for a reason that is no contention, %llu times%s, "
             "the first at %s: %s",
             (unsigned long long)atomic_load(&refused->n), share,
             when(run, refused->at_ns, at, sizeof at), refused->text);
}

static void warn_of_stalls(struct lb_outcome *outcome)
{
    enum { LEAST_NS = 100000000 };
    char length[32];
    if (outcome->judgement.measures.stalled_ns >= LEAST_NS)
        warn(outcome,
             "all workers stood still for %s: this program was stopped or starved, or the database "
             "did not answer; that time does not count toward progress and recovery, but it does "
             "in all numbers",
             lb_format_ns(outcome->judgement.measures.stalled_ns, length, sizeof length));
}

static void warn_of_the_dead(const struct lb_active_run *run)
{
    struct lb_outcome *outcome = run->outcome;
    const struct lb_measures *m = &outcome->judgement.measures;
    const struct lb_finding *findings = outcome->judgement.findings;
    bool is_verdict = findings[LB_G_RECOVERY].verdict == LB_V_VIOLATED ||
                      findings[LB_G_NO_LOSS].verdict == LB_V_VIOLATED;
    if (is_verdict || m->n_recovered >= m->n_deaths || m->clock_set.n > 0)
        return;
    bool can_recover = lb_strategy_has(&run->plan, LB_S_RECOVER), is_one = m->n_stuck == 1;
    if (m->n_stuck > 0)
        warn(outcome,
             "%llu item%s of consumers that died %s %s: the queue was drained, and no worker has "
             "%s; %s",
             (unsigned long long)m->n_stuck, is_one ? "" : "s", is_one ? "is" : "are",
             can_recover ? "stuck" : "lost", is_one ? "it" : "them",
             !can_recover                              ? "the strategy has no section recover"
             : run->request->scenario->recover_ns == 0 ? "see --recover"
                                                       : "in spite of --recover");
    else if (m->n_recovered == 0 && m->n_deaths > m->n_deaths_beside)
        warn(outcome, "locks or items of dead workers were never granted again: %llu deaths",
             (unsigned long long)(m->n_deaths - m->n_deaths_beside));
}

/* Protocol, belief and harm are three questions: this is belief, as leases have it. */
static void warn_of_the_taken(struct lb_outcome *outcome)
{
    const struct lb_measures *m = &outcome->judgement.measures;
    if (m->n_taken_items == 0)
        return;
    warn(outcome,
         "%llu item%s claimed %llu times: a recovery, or the end of a lease, took %s from workers "
         "that were alive, so %s work was done more than once",
         (unsigned long long)m->n_taken_items, m->n_taken_items == 1 ? " was" : "s were",
         (unsigned long long)m->n_taken_claims, m->n_taken_items == 1 ? "it" : "them",
         m->n_taken_items == 1 ? "its" : "their");
}

/* An end that finds nothing to end: its worker was the last known one to claim the item. The
 * statements of a batch can leave items out in the same way. */
static void warn_of_the_unended(const struct lb_active_run *run)
{
    struct lb_outcome *outcome = run->outcome;
    const uint64_t *answers = outcome->counts[LB_M_RELEASE].answers;
    const struct lb_judgement *judgement = &outcome->judgement;
    const uint64_t n = answers[LB_REFUSED], n_all = n + answers[LB_OK];
    bool is_explained = run->request->scenario->fault != LB_FAULT_NONE ||
                        judgement->measures.n_taken_items > 0 ||
                        judgement->measures.clock_set.n > 0 ||
                        judgement->findings[LB_G_NO_DUPLICATE].verdict == LB_V_VIOLATED;
    if (n == 0 || run->request->strategy->shape != LB_QUEUE || run->history == NULL || is_explained)
        return;
    warn(outcome,
         "%llu of %llu ends of items found nothing to end, though no other worker had claimed %s: "
         "check the statement's conditions, and its answer",
         (unsigned long long)n, (unsigned long long)n_all, n == 1 ? "the item" : "these items");
}

/* Items that are in hand, all of them, until the work on the last one is done. */
static uint64_t items_in_hand(const struct lb_active_run *run)
{
    const struct lb_scenario *scenario = run->request->scenario;
    if (scenario->shape != LB_QUEUE || scenario->rows > 0 || !lb_ends_together(&run->plan))
        return 1;
    return scenario->batch < scenario->backlog ? scenario->batch : scenario->backlog;
}

/* The lease of a queue that is drained, if the work on n_items items is longer; 0: it is not. */
static uint64_t outlasted_ns(const struct lb_active_run *run, uint64_t n_items)
{
    const struct lb_scenario *scenario = run->request->scenario;
    uint64_t ttl_ns = (uint64_t)run->plan.ttl_ms * 1000000;
    bool renews = scenario->renew_ns > 0 && scenario->renew_ns < ttl_ns &&
                  lb_strategy_has(&run->plan, LB_S_RENEW);
    bool is_outlasted = scenario->drain && run->request->strategy->is_lease &&
                        n_items * scenario->hold_ns >= ttl_ns && !renews;
    return is_outlasted ? ttl_ns : 0;
}

uint64_t lb_run_outlasted_ns(const struct lb_active_run *run)
{
    return outlasted_ns(run, 1);
}

/* A run in which items came back for ever was ended. If no verdict says so, it proves nothing. */
static void warn_of_the_endless(struct lb_active_run *run)
{
    struct lb_outcome *outcome = run->outcome;
    bool is_violated = false;
    for (int g = 0; g < LB_GUARANTEES; g++)
        is_violated |= outcome->judgement.findings[g].verdict == LB_V_VIOLATED;
    char text[200];
    snprintf(
        text, sizeof text,
        "items come back after they were ended: %llu completions of %llu items; the run was ended",
        (unsigned long long)lb_run_completions(run), (unsigned long long)lb_run_items_put(run));
    warn(outcome, "%s", text);
    if (!is_violated && outcome->state == LB_RUN_COMPLETE)
        lb_outcome_invalidate(outcome, "%s", text);
}

static void warn_of_no_drain(struct lb_active_run *run)
{
    struct lb_outcome *outcome = run->outcome;
    const struct lb_scenario *scenario = run->request->scenario;
    uint64_t ttl_ns = lb_run_outlasted_ns(run), n_items = items_in_hand(run);
    char work[32], ttl[32];
    bool has_ended = atomic_load(&run->team->drained) || atomic_load(&run->team->only_ahead);
    if (!scenario->drain || has_ended || outcome->state != LB_RUN_COMPLETE)
        return;
    if (ttl_ns == 0 && outlasted_ns(run, n_items) > 0) {
        warn(outcome,
             "the queue was not drained in the time that there was: the work on a claim of %llu "
             "items, %s, outlasts the lease of %s, and others claim them meanwhile; see --ttl, "
             "--batch%s",
             (unsigned long long)n_items,
             lb_format_ns(n_items * scenario->hold_ns, work, sizeof work),
             lb_format_ns(outlasted_ns(run, n_items), ttl, sizeof ttl),
             lb_strategy_has(&run->plan, LB_S_RENEW) ? ", --renew" : "");
        return;
    }
    if (ttl_ns == 0) {
        warn(outcome, "the queue was not drained in the time that there was; see --duration");
        return;
    }
    lb_outcome_invalidate(
        outcome,
        "the queue was not drained: a hold of %s outlasts the lease of %s; make --ttl longer, "
        "or --hold shorter",
        lb_format_ns(scenario->hold_ns, work, sizeof work), lb_format_ns(ttl_ns, ttl, sizeof ttl));
}

/* Fewer arrivals were served than came. Serving those that still wait at the end takes as long as
 * serving the same number took; arrivals that found the queue full were rejected. */
static void warn_of_backlog(struct lb_active_run *run, uint64_t n_served)
{
    struct lb_outcome *outcome = run->outcome;
    const struct lb_scenario *scenario = run->request->scenario;
    const enum lb_measure arrives = scenario->shape == LB_QUEUE ? LB_M_PUT : LB_M_ACQUIRE;
    uint64_t due = outcome->n_due, skipped = outcome->counts[arrives].skipped;
    uint64_t left = due > n_served + skipped ? due - n_served - skipped : 0;
    double seconds = (double)outcome->elapsed_ns / 1e9;
    char served[32], came[32], span[32], lost[100] = "";
    lb_format_count((double)n_served / seconds, served, sizeof served);
    lb_format_count((double)due / seconds, came, sizeof came);
    lb_format_ns((uint64_t)((double)left * (double)outcome->elapsed_ns / (double)n_served), span,
                 sizeof span);
    if (skipped > 0)
        snprintf(lost, sizeof lost, "; %llu found %llu waiting (--max-pending) and were left out",
                 (unsigned long long)skipped, (unsigned long long)scenario->max_pending);
    warn(outcome,
         "falls behind: %s/s of %s/s; %llu were left at the end, %s of work if no more came%s",
         served, came, (unsigned long long)left, span, lost);
}

static void warn_of_no_work(struct lb_active_run *run)
{
    enum { SOME = 100 };
    struct lb_outcome *outcome = run->outcome;
    const char *done = run->request->scenario->shape == LB_QUEUE ? "claimed" : "granted";
    uint64_t n = outcome->counts[LB_M_ACQUIRE].succeeded, due = outcome->n_due;
    uint64_t n_served = outcome->n_items > 0 ? outcome->n_items : n;
    if (n == 0 && outcome->state == LB_RUN_COMPLETE)
        warn(outcome, "nothing was %s in the measured part", done);
    else if (due >= SOME && n_served > 0 && n_served < due - due / 10)
        warn_of_backlog(run, n_served);
}

/* The end of a trace is often its busiest part. */
static void warn_of_the_rest(struct lb_active_run *run)
{
    const struct lb_schedule *schedule = &run->team->schedule;
    uint64_t until_ns = run->stop_ns - run->team->schedule_start_ns;
    if (!run->team->open_loop || schedule->trace == NULL)
        return;
    size_t n = (size_t)lb_schedule_expected(schedule, until_ns);
    if (n < schedule->n_trace)
        warn(run->outcome,
             "the run ended before the trace: %zu of its %zu arrivals came; see --duration", n,
             schedule->n_trace);
}

/* Open loop: their waits are in no percentile. */
static void warn_of_the_displaced(struct lb_active_run *run)
{
    uint64_t n = atomic_load(&run->team->n_displaced);
    if (n > 0)
        warn(run->outcome,
             "the waits of %llu items are not known: more than %d items were on their way",
             (unsigned long long)n, LB_WATCHED_ITEMS);
}

void lb_run_warn_of_ends(struct lb_active_run *run)
{
    warn_of_deaths(run);
    warn_of_the_stuck(run);
}

/* Adds the warnings of the other ranks. */
static void warn_of_others(struct lb_active_run *run)
{
    for (uint32_t r = 1; run->peers != NULL && r < run->peers->n; r++) {
        const struct lb_peer *peer = &run->peers->all[r];
        for (size_t i = 0; peer->outcome != NULL && i < peer->outcome->n_warnings; i++)
            warn(run->outcome, "rank %u on %s: %.300s", r, peer->host, peer->outcome->warnings[i]);
    }
}

void lb_run_warn(struct lb_active_run *run)
{
    lb_run_warn_of_ends(run);
    warn_of_others(run);
    warn_of_restarts(run);
    warn_of_clocks(run);
    warn_of_sessions(run);
    warn_of_refusals(run);
    warn_of_stalls(run->outcome);
    warn_of_the_dead(run);
    warn_of_the_taken(run->outcome);
    warn_of_the_displaced(run);
    warn_of_the_rest(run);
    warn_of_the_unended(run);
    if (run->is_endless)
        warn_of_the_endless(run);
    else
        warn_of_no_drain(run);
    warn_of_no_work(run);
}

int lb_run_check_errors(struct lb_active_run *run, struct lb_error *err)
{
    struct lb_team *team = run->team;
    const struct lb_first *first = atomic_load(&team->refused.state) == 2   ? &team->refused
                                   : atomic_load(&team->doubled.state) == 2 ? &team->doubled
                                                                            : &team->lost;
    if (lb_run_successes(run) > 0)
        return 0;
    if (atomic_load(&first->state) != 2 || lb_control_interrupted(run) ||
        run->request->scenario->fault != LB_FAULT_NONE)
        return 0;
    if (first->text[0] == '\0')
        return lb_fail(err, LB_E_SQL,
                       "%s: nothing was ever %s: %llu requests had no answer when the run ended; "
                       "--duration says how long it lasts",
                       run->request->strategy->name,
                       run->request->scenario->shape == LB_QUEUE ? "claimed" : "granted",
                       (unsigned long long)atomic_load(&first->n));
    return lb_fail(err, LB_E_SQL,
                   "%s: nothing was ever %s, and the server refused %llu times; the first: %s",
                   run->request->strategy->name,
                   run->request->scenario->shape == LB_QUEUE ? "claimed" : "granted",
                   (unsigned long long)atomic_load(&first->n), first->text);
}
