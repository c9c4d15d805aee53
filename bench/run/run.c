/* A run from set-up to verdict: see run.h.
 *
 *   space -> control session -> setup (+ backlog) -> workers ready -> warm-up -> measure
 *         -> (drain) -> stop -> join -> judge -> teardown -> space dropped
 *
 * Every step after the space was made ends in the same clean-up, so that nothing is left in the
 * user's database whatever happens.
 */
#include "run.h"

#include "books.h"
#include "chunks.h"
#include "clock.h"
#include "control.h"
#include "faults.h"
#include "gauges.h"
#include "guard.h"
#include "intervals.h"
#include "leash.h"
#include "parts.h"
#include "peers.h"
#include "proofs.h"
#include "readers.h"
#include "restarted.h"
#include "run_parts.h"
#include "settle.h"
#include "settler.h"
#include "warnings.h"

#include <time.h>
#include <unistd.h>

/* How long a queue may take to be emptied, so that a lost item can be distinguished from one that
 * was not reached; and for runs that measure the emptying. */
#define DRAIN_NS     UINT64_C(10000000000)
#define DRAIN_RUN_NS UINT64_C(120000000000)
#define REPORT_NS    UINT64_C(100000000)

/* True if items come back for ever: far more were completed than were put. Each worker may claim an
 * item, as some broken protocols allow. Items that are given back, that fail, or that are recovered
 * were not completed. */
static bool is_endless(const struct lb_active_run *run)
{
    enum { AGAIN = 2, SOME = 500 };
    const struct lb_scenario *s = run->request->scenario;
    if (s->shape != LB_QUEUE || s->period_ns > 0 || run->company != NULL)
        return false;
    const double n_put = (double)lb_run_items_put(run);
    const double each = (double)(AGAIN + s->workers) * (double)(s->rounds + 1);
    return (double)lb_run_completions(run) > each * n_put + SOME;
}

/* Stays in a phase until its time is over, the workers have ended, the queue is drained (where that
 * ends it), the user interrupts, or a worker failed. */
static void stay(struct lb_active_run *run, const char *name, uint64_t until_ns, uint64_t from_ns,
                 bool until_drained)
{
    struct lb_team *team = run->team;
    enum lb_phase phase = lb_team_phase(team);
    while (lb_now_ns() < until_ns && lb_team_phase(team) == phase && !lb_control_interrupted(run)) {
        bool only_ahead = atomic_load(&team->only_ahead) && atomic_load(&team->ahead_is_locked);
        if ((until_drained && (atomic_load(&team->drained) || only_ahead)) ||
            (phase == LB_PHASE_MEASURE && lb_faults_done(run)))
            break;
        run->is_endless = run->is_endless || is_endless(run);
        if (lb_phases_tick(run, LB_ENDED, run->n_started, until_ns) || run->is_endless)
            break;
        if (lb_now_ns() >= run->last_tick_ns + REPORT_NS)
            lb_run_report(run, name,
                          until_ns == UINT64_MAX
                              ? -1
                              : (double)(lb_now_ns() - from_ns) / (double)(until_ns - from_ns));
    }
}

static void execute(struct lb_active_run *run)
{
    const struct lb_scenario *scenario = run->request->scenario;
    struct lb_team *team = run->team;
    enum lb_phase first = scenario->warmup_ns > 0 ? LB_PHASE_WARMUP : LB_PHASE_MEASURE;
    run->first_ns = lb_peers_agree(run, first);
    team->schedule_start_ns = run->first_ns;
    if (scenario->warmup_ns > 0) {
        lb_team_raise(team, LB_PHASE_WARMUP);
        stay(run, "warm-up", run->first_ns + scenario->warmup_ns, run->first_ns, false);
    }
    lb_phases_measure(run, scenario->warmup_ns > 0 ? lb_peers_agree(run, LB_PHASE_MEASURE)
                                                   : lb_now_ns());
    uint64_t until_ns = scenario->duration_ns > 0 ? run->measure_ns + scenario->duration_ns
                        : scenario->drain || scenario->fault_count > 0
                            ? run->measure_ns + DRAIN_RUN_NS
                            : UINT64_MAX;
    stay(run, "running", until_ns, run->measure_ns, scenario->drain);
    bool drains = scenario->shape == LB_QUEUE && !atomic_load(&team->drained) &&
                  !lb_control_interrupted(run) && lb_team_phase(team) == LB_PHASE_MEASURE &&
                  lb_run_outlasted_ns(run) == 0 && !run->is_endless;
    lb_peers_agree(run, drains ? LB_PHASE_DRAIN : LB_PHASE_STOP);
    lb_run_interval(run, true);
    lb_run_sample(run, lb_now_ns());
    lb_phases_measured(run);
    if (drains) {
        /* A claim that is under way may be granted what was locked: it must see the phase by then.
         */
        lb_team_raise(team, LB_PHASE_DRAIN);
        lb_backlog_free(run);
        stay(run, "draining", lb_now_ns() + DRAIN_NS, lb_now_ns(), true);
    }
    lb_phases_stop(run);
}

/* The ranks that run with this one; NULL: there are none. */
static struct lb_peers *peers;

int lb_run_lead(struct lb_link *link, char *where, size_t size, struct lb_error *err)
{
    int rc = link->n_ranks > 1 ? lb_peers_meet(link, &peers, err) : 0;
    if (rc == 0 && peers != NULL) {
        peers->where = where;
        peers->where_size = size;
    }
    return rc;
}

uint32_t lb_run_ranks(void)
{
    return peers != NULL ? peers->link->n_ranks : 1;
}

bool lb_run_part(void)
{
    bool lost = lb_peers_part(peers);
    peers = NULL;
    return lost;
}

static int take_share(struct lb_active_run *run, const struct lb_scenario *all,
                      struct lb_scenario *own, struct lb_error *err)
{
    int rc = lb_peers_check(run->request, err);
    if (rc != 0)
        return rc;
    peers->n = lb_share_ranks(all, peers->n_ranks);
    snprintf(peers->where, peers->where_size, "%s", run->request->target->uri);
    if (peers->n < 2) /* the others have nothing to do */
        return 0;
    lb_share_scenario(all, 0, peers->n, own);
    lb_share_make(all, lb_run_beats(run->request), 0, peers->n, &run->share);
    run->peers = peers;
    run->company = &lb_peers_company;
    return 0;
}

/* --- questions to the database once all workers have ended --- */

/* Waits until the leases of slow or dead workers are over, by any clock. */
static void outlast_leases(const struct lb_active_run *run)
{
    enum { MOST_MS = 1000, MARGIN_MS = 20 };
    const struct lb_strategy *strategy = run->request->strategy;
    uint64_t from_ns = lb_now_ns();
    if (!strategy->is_lease || run->plan.ttl_ms > MOST_MS)
        return;
    while (!lb_control_interrupted(run) &&
           lb_now_ns() < from_ns + (run->plan.ttl_ms + MARGIN_MS) * UINT64_C(1000000))
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

/* Notes how many permits of each resource the tables say are free, if the strategy makes a promise
 * about this. Waits until leases of a second or less are over. */
static int ask_when_quiet(struct lb_active_run *run, struct lb_error *err)
{
    struct lb_runner runner = {0};
    if ((run->request->strategy->claims & LB_G_BIT(LB_G_PERMITS)) == 0 || run->history == NULL ||
        run->program == NULL || !run->program->sections[LB_S_PERMITS].present ||
        run->outcome->state != LB_RUN_COMPLETE)
        return 0;
    outlast_leases(run);
    lb_runner_init(&runner, run->program, &run->control, err);
    int rc = 0;
    for (uint32_t i = 0; i < run->plan.n_resources && rc == 0; i++) {
        int64_t n_free = 0;
        uint64_t from_ns = lb_now_ns();
        rc = lb_permits_ask(&run->plan, &runner, i, 0, &n_free, err);
        uint64_t to_ns = lb_now_ns();
        if (rc == LB_OK)
            lb_log_append(&run->control_log,
                          &(struct lb_event){.time_ns = to_ns,
                                             .value = (uint64_t)n_free,
                                             .process = run->share.first_log,
                                             .object = i,
                                             .arg = (uint32_t)((to_ns - from_ns) / 1000 + 1),
                                             .op = LB_OP_PERMITS,
                                             .type = LB_EV_NOTE});
    }
    lb_runner_release(&runner);
    return rc < 0 ? rc : 0;
}

/* --- the outcome --- */

/* The workers have stopped: computes the outcome and the warnings. */
static int conclude(struct lb_active_run *run, const struct lb_scenario *scenario,
                    struct lb_error *err)
{
    int rc = lb_control_reopen(run, err);
    if (rc == 0 && run->has_control && run->history != NULL)
        lb_server_clock_end(&run->server_clock, &run->watchdog.clock, &run->control,
                            &run->control_log);
    if (rc == 0 && run->has_control)
        lb_uptime_look(run->team, &run->control, run->history != NULL ? &run->control_log : NULL,
                       run->share.first_log);
    if (rc == 0)
        lb_peers_gather(run);
    if (rc == 0)
        rc = lb_run_settle(run, err);
    if (rc == 0)
        rc = lb_run_check_errors(run, err);
    if (rc == 0 && run->team->db != NULL)
        lb_run_subtract_counters(run);
    if (rc == 0 && scenario->rounds > 0)
        rc = lb_ledger_count(run, err);
    if (rc == 0)
        rc = ask_when_quiet(run, err);
    if (rc == 0)
        rc = lb_run_judge(run, err);
    if (rc == 0)
        lb_run_warn(run);
    if (rc == 0 && run->team->guard && run->outcome->state != LB_RUN_SERVER_GONE) {
        uint64_t lost = 0;
        rc = lb_guard_lost_updates(&run->control, run->workers, run->n_started,
                                   lb_parts_sum(run).n_guarded, &lost, err);
        run->outcome->n_guard_lost = lost;
    }
    if (rc == 0 && scenario->rows > 0 && run->outcome->state != LB_RUN_SERVER_GONE)
        rc = lb_chunks_prove(&run->control, run->team, run->outcome->n_lost, &run->outcome->proof,
                             err);
    return rc;
}

/* From the first worker that is ready to the verdicts. started: how the start came out. */
static int measure(struct lb_active_run *run, const struct lb_scenario *scenario, int started,
                   struct lb_error *err)
{
    int rc = started;
    lb_phases_wait_ready(run);
    bool opened = rc == 0 && lb_team_error(run->team) == NULL;
    if (opened)
        rc = lb_watchdog_start(&run->watchdog, run->workers, run->n_slots, run->share.first_log + 2,
                               err);
    if (opened && rc == 0)
        rc = lb_faults_start(run, err);
    if (opened && rc == 0 && scenario->readers > 0)
        rc = lb_readers_start(run, err);
    if (opened && rc == 0)
        rc = lb_gauges_start(run, err);
    if (opened && rc == 0)
        rc = lb_settler_start(run, err);
    if (opened && rc == 0) {
        execute(run);
        return conclude(run, scenario, err);
    }
    lb_team_raise(run->team, LB_PHASE_ABORT);
    lb_phases_stop(run);
    const struct lb_error *error = lb_team_error(run->team);
    if (rc == 0 && error != NULL) {
        rc = error->code;
        *err = *error;
    } else if (rc == 0) {
        rc = lb_fail(err, LB_E_INTERRUPTED, "interrupted before the start");
    }
    return rc;
}

/* *ret_again: nothing has begun yet, and the connection was lost on the way there. */
static int run_once(const struct lb_run_plan *plan, const struct lb_stop *stop,
                    lb_progress_fn *progress, void *arg, bool *ret_again,
                    struct lb_outcome **ret_outcome, struct lb_error *err)
{
    /* Only a process can be killed: a run with deaths gives each worker one. */
    struct lb_scenario all = *plan->scenario, scenario;
    if (lb_fault_is(all.fault, LB_FAULT_KILLS) && all.processes == 0)
        all.processes = all.workers + (all.shape == LB_QUEUE ? all.producers : 0);
    scenario = all;
    struct lb_run_plan request = *plan;
    request.scenario = &scenario;
    struct lb_active_run run = {
        .request = &request, .stop = stop, .progress = progress, .progress_arg = arg};
    run.outcome = lb_outcome_new(&request);
    int rc = peers != NULL ? take_share(&run, &all, &scenario, err) : 0;
    if (rc != 0) {
        lb_outcome_free(run.outcome);
        return rc;
    }
    run.last_tick_ns = lb_now_ns();
    lb_run_report(&run, "setup", -1);
    rc = lb_run_set_up(&run, err);
    if (rc == 0) {
        lb_run_take_counters(&run, &run.counters_before, &run.n_counters_before);
        lb_server_clock_begin(&run.server_clock, run.has_control ? &run.control : NULL);
        lb_uptime_begin(run.team, run.has_control ? &run.control : NULL);
        rc = lb_peers_begin(&run, &all, err);
    }
    if (rc == 0)
        rc = lb_run_start_workers(&run, err);
    if (run.n_started > 0)
        rc = measure(&run, &scenario, rc, err);
    if ((rc == LB_E_SQL || rc == LB_E_ENV) && lb_control_interrupted(&run) && lb_leash_is_pulled())
        rc = lb_fail(err, LB_E_INTERRUPTED, "interrupted");
    else if (rc < 0 && lb_leash_is_due())
        lb_fail_prefix(err, "a statement did not end in time");
    *ret_again = rc != 0 && run.n_started == 0 && run.has_control &&
                 !lb_control_interrupted(&run) && !lb_control_has_connection(&run);
    lb_run_report(&run, "cleaning up", -1);
    lb_peers_end(&run);
    struct lb_error clean_error;
    int clean_rc = lb_run_clean_up(&run, &clean_error);
    if (rc == 0 && clean_rc != 0) {
        rc = clean_rc;
        *err = clean_error;
    }
    if (peers != NULL)
        peers->where[0] = '\0';
    lb_run_release(&run);
    if (rc != 0) {
        lb_outcome_free(run.outcome);
        return rc;
    }
    *ret_outcome = run.outcome;
    return 0;
}

int lb_run(const struct lb_run_plan *plan, const struct lb_stop *stop, lb_progress_fn *progress,
           void *arg, struct lb_outcome **ret_outcome, struct lb_error *err)
{
    const uint64_t give_up_ns = lb_now_ns() + LB_CONTROL_PATIENCE_S * UINT64_C(1000000000);
    bool again = false;
    int rc;
    do {
        if (again && plan->history_path != NULL)
            unlink(plan->history_path); /* nothing had begun */
        rc = run_once(plan, stop, progress, arg, &again, ret_outcome, err);
    } while (again && lb_now_ns() < give_up_ns);
    if (stop == NULL || atomic_load(&stop->requested) == 0)
        lb_leash_loose();
    if (stop != NULL && atomic_load(&stop->requested) > 0 && !lb_leash_is_pulled())
        lb_leash_pull(); /* it was requested just then */
    return rc;
}
