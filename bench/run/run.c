/* A run from set-up to verdict: see run.h.
 *
 *   space -> control session -> setup (+ backlog) -> workers ready -> warm-up -> measure
 *         -> (drain) -> stop -> join -> judge -> teardown -> space dropped
 *
 * Every step after the space was made ends in the same clean-up, so that nothing is left in the
 * user's database whatever happens.
 */
#include "run.h"

#include "backlog.h"
#include "carriers.h"
#include "chunks.h"
#include "control.h"
#include "faults.h"
#include "guard.h"
#include "intervals.h"
#include "ledger.h"
#include "pool.h"
#include "processes.h"
#include "readers.h"
#include "restarted.h"
#include "settle.h"
#include "setup.h"
#include "waits.h"
#include "warnings.h"

#include <sys/time.h>

/* How long after the stop a worker may still wait inside the engine before it is cancelled, and a
 * queue be emptied so that a lost item can be told from one that was not reached. */
#define GRACE_NS UINT64_C(2000000000)
/* A process that has not ended by then is killed. Where nobody waits for the end, it may be that it
 * is not run. */
#define STARVED_NS    UINT64_C(10000000000)
#define DRAIN_NS      UINT64_C(10000000000)
#define DRAIN_RUN_NS  UINT64_C(120000000000)
#define FAULT_TICK_NS UINT64_C(3000000)
#define TICK_NS       UINT64_C(100000000)

/* Waits for at most a tick, or until something changed. true once the counter has reached wanted.
 */
static bool tick(struct lb_active_run *run, const _Atomic uint32_t *counter, uint32_t wanted,
                 uint64_t until_ns)
{
    struct lb_crew *crew = run->crew;
    /* Faults are placed, and their victims buried, to some milliseconds. */
    bool faults = run->request->scenario->fault != LB_FAULT_NONE;
    uint64_t wake = lb_now_ns() + (faults                 ? FAULT_TICK_NS
                                   : lb_waits_wanted(run) ? LB_SAMPLE_NS
                                                          : TICK_NS);
    uint32_t seen = lb_event_seen(&crew->change);
    if (atomic_load(counter) < wanted && !atomic_load(&crew->drained))
        lb_event_wait(&crew->change, seen, until_ns < wake ? until_ns : wake);
    lb_processes_watch(run);
    lb_faults_watch(run);
    lb_waits_sample(run);
    struct lb_error lost;
    if (crew->db != NULL && crew->db->space_check != NULL &&
        crew->db->space_check(run->space, &lost) < 0)
        lb_crew_fail(crew, &lost);
    return atomic_load(counter) >= wanted;
}

static void wait_ready(struct lb_active_run *run)
{
    while (!tick(run, &run->crew->n_ready, run->n_started, UINT64_MAX) &&
           lb_control_interrupted(run) < 2)
        lb_run_report(run, "connecting", -1);
}

/* Stays in a phase until its time is over, the workers have ended, the queue is drained (where that
 * ends it), the user interrupts, or a worker failed. */
static void stay(struct lb_active_run *run, const char *name, uint64_t until_ns, uint64_t from_ns,
                 bool until_drained)
{
    struct lb_crew *crew = run->crew;
    enum lb_phase phase = lb_crew_phase(crew);
    while (lb_now_ns() < until_ns && lb_crew_phase(crew) == phase && !lb_control_interrupted(run)) {
        bool only_ahead = atomic_load(&crew->only_ahead) && atomic_load(&crew->ahead_is_locked);
        if ((until_drained && (atomic_load(&crew->drained) || only_ahead)) ||
            (phase == LB_PHASE_MEASURE && lb_faults_done(run)))
            break;
        if (tick(run, &crew->n_ended, run->n_started, until_ns))
            break;
        if (lb_now_ns() >= run->last_tick_ns + TICK_NS)
            lb_run_report(run, name,
                          until_ns == UINT64_MAX
                              ? -1
                              : (double)(lb_now_ns() - from_ns) / (double)(until_ns - from_ns));
    }
}

/* Workers of other processes are cancelled there. */
static void cancel_all(struct lb_active_run *run)
{
    for (uint32_t i = 0; i < run->n_started && run->processes == NULL; i++)
        lb_worker_cancel(&run->workers[i]);
    if (run->crew->pool != NULL)
        lb_pool_cancel(run->crew->pool);
    if (run->readers != NULL)
        lb_readers_cancel(run->readers);
}

/* Lets the workers finish; then, one after the other less patient, cancels what still waits. */
static void stop_workers(struct lb_active_run *run)
{
    struct lb_crew *crew = run->crew;
    const struct lb_scenario *scenario = run->request->scenario;
    lb_crew_raise(crew, LB_PHASE_STOP);
    lb_backlog_free(run);
    uint64_t grace_ns = lb_now_ns() + GRACE_NS + 2 * scenario->hold_ns +
                        (scenario->overrun > 0 ? 4 * scenario->ttl_ns : 0);
    while (!tick(run, &crew->n_ended, run->n_started, UINT64_MAX)) {
        lb_run_report(run, "stopping", -1);
        if (lb_now_ns() < grace_ns && lb_control_interrupted(run) < 2 &&
            lb_crew_phase(crew) < LB_PHASE_ABORT)
            continue;
        lb_crew_raise(crew, LB_PHASE_ABORT);
        cancel_all(run);
        if (lb_now_ns() > grace_ns + (lb_control_interrupted(run) > 0 ? GRACE_NS : STARVED_NS))
            lb_processes_end(run, true);
    }
    if (run->processes != NULL)
        lb_processes_end(run, false);
    else if (crew->n_carriers > 0)
        lb_carriers_end(run);
    else
        for (uint32_t i = 0; i < run->n_started; i++)
            pthread_join(run->workers[i].thread, NULL);
    if (run->crew->pool != NULL)
        lb_pool_close(run->crew->pool, &run->outcome->n_statements, &run->outcome->n_connects);
    lb_readers_end(run->readers);
    lb_faults_end(run);
    lb_watchdog_end(&run->watchdog);
}

static void execute(struct lb_active_run *run)
{
    const struct lb_scenario *scenario = run->request->scenario;
    struct lb_crew *crew = run->crew;
    run->first_ns = lb_now_ns();
    crew->schedule_start_ns = run->first_ns;
    if (scenario->warmup_ns > 0) {
        lb_crew_raise(crew, LB_PHASE_WARMUP);
        stay(run, "warm-up", run->first_ns + scenario->warmup_ns, run->first_ns, false);
    }
    getrusage(RUSAGE_SELF, &run->usage_before);
    run->measure_ns = lb_now_ns();
    run->outcome->start_unix_ms = lb_unix_ms();
    atomic_store(&crew->measure_ns, run->measure_ns);
    run->first_successes = run->interval_successes = lb_run_successes(run);
    lb_run_sample(run, run->measure_ns);
    for (uint32_t i = 0; i < run->n_started; i++)
        run->interval_refusals +=
            atomic_load_explicit(&run->workers[i].refusals, memory_order_relaxed);
    lb_crew_raise(crew, LB_PHASE_MEASURE);
    uint64_t until_ns = scenario->duration_ns > 0 ? run->measure_ns + scenario->duration_ns
                        : scenario->drain || scenario->fault_count > 0
                            ? run->measure_ns + DRAIN_RUN_NS
                            : UINT64_MAX;
    stay(run, "running", until_ns, run->measure_ns, scenario->drain);
    lb_run_interval(run, true);
    lb_run_sample(run, lb_now_ns());
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    /* Last: workers count until the phase is raised, and what they count is divided by this time.
     */
    run->last_successes = lb_run_successes(run);
    run->stop_ns = lb_now_ns();
    atomic_store(&crew->stop_ns, run->stop_ns);
    struct lb_outcome *outcome = run->outcome;
    struct timeval user, system;
    timersub(&usage.ru_utime, &run->usage_before.ru_utime, &user);
    timersub(&usage.ru_stime, &run->usage_before.ru_stime, &system);
    outcome->has_cpu = run->processes == NULL;
    outcome->cpu_user_ns = (uint64_t)user.tv_sec * 1000000000u + (uint64_t)user.tv_usec * 1000u;
    outcome->cpu_system_ns =
        (uint64_t)system.tv_sec * 1000000000u + (uint64_t)system.tv_usec * 1000u;
    outcome->n_switches_voluntary = (uint64_t)(usage.ru_nvcsw - run->usage_before.ru_nvcsw);
    outcome->n_switches_involuntary = (uint64_t)(usage.ru_nivcsw - run->usage_before.ru_nivcsw);
    if (scenario->shape == LB_QUEUE && !atomic_load(&crew->drained) &&
        !lb_control_interrupted(run) && lb_crew_phase(crew) == LB_PHASE_MEASURE &&
        lb_run_outlasted_ns(run) == 0) {
        /* A claim that is under way may be granted what was locked: it must see the phase by then.
         */
        lb_crew_raise(crew, LB_PHASE_DRAIN);
        lb_backlog_free(run);
        stay(run, "draining", lb_now_ns() + DRAIN_NS, lb_now_ns(), true);
    }
    stop_workers(run);
}

/* *ret_again: nothing has begun yet, and the connection was lost on the way there. */
static int run_once(const struct lb_run_plan *plan, const struct lb_stop *stop,
                    lb_progress_fn *progress, void *arg, bool *ret_again,
                    struct lb_outcome **ret_outcome, struct lb_error *err)
{
    /* Only a process can be killed: a run with deaths gives each worker one. */
    struct lb_scenario scenario = *plan->scenario;
    if (scenario.fault == LB_FAULT_KILL && scenario.processes == 0)
        scenario.processes =
            scenario.workers + (scenario.shape == LB_QUEUE ? scenario.producers : 0);
    struct lb_run_plan request = *plan;
    request.scenario = &scenario;
    struct lb_active_run run = {
        .request = &request, .stop = stop, .progress = progress, .progress_arg = arg};
    int rc = lb_outcome_new(&request, &run.outcome, err);
    if (rc != 0)
        return rc;
    run.last_tick_ns = lb_now_ns();
    lb_run_report(&run, "setup", -1);
    rc = lb_run_set_up(&run, err);
    if (rc == 0) {
        lb_run_take_counters(&run, &run.counters_before, &run.n_counters_before);
        lb_uptime_begin(run.crew, run.has_control ? &run.control : NULL);
        rc = lb_run_start_workers(&run, err);
    }
    if (run.n_started > 0) {
        wait_ready(&run);
        bool opened = rc == 0 && lb_crew_error(run.crew) == NULL;
        if (opened)
            rc = lb_watchdog_start(&run.watchdog, run.workers, run.n_slots, run.n_slots + 2, err);
        if (opened && rc == 0)
            rc = lb_faults_start(&run, err);
        if (opened && rc == 0 && scenario.readers > 0)
            rc = lb_readers_start(&run, err);
        if (opened && rc == 0) {
            execute(&run);
            rc = lb_control_reopen(&run, err);
            if (rc == 0 && run.has_control)
                lb_uptime_look(run.crew, &run.control,
                               run.history != NULL ? &run.control_log : NULL, run.n_slots);
            if (rc == 0)
                rc = lb_run_settle(&run, err);
            if (rc == 0)
                rc = lb_run_check_errors(&run, err);
            if (rc == 0 && run.crew->db != NULL)
                lb_run_subtract_counters(&run);
            if (rc == 0 && scenario.rounds > 0)
                rc = lb_ledger_count(&run, err);
            if (rc == 0)
                rc = lb_run_judge(&run, err);
            if (rc == 0)
                lb_run_warn(&run);
            if (rc == 0 && run.crew->guard && run.outcome->state != LB_RUN_SERVER_GONE) {
                uint64_t lost = 0;
                rc = lb_guard_lost_updates(&run.control, run.workers, run.n_started, &lost, err);
                run.outcome->n_guard_lost = lost;
            }
            if (rc == 0 && scenario.rows > 0 && run.outcome->state != LB_RUN_SERVER_GONE)
                rc = lb_chunks_prove(&run.control, run.crew, run.outcome->n_lost,
                                     &run.outcome->proof, err);
        } else {
            lb_crew_raise(run.crew, LB_PHASE_ABORT);
            stop_workers(&run);
            const struct lb_error *error = lb_crew_error(run.crew);
            if (rc == 0 && error != NULL) {
                rc = error->code;
                *err = *error;
            } else if (rc == 0) {
                rc = lb_fail(err, LB_E_INTERRUPTED, "interrupted before the start");
            }
        }
    }
    *ret_again = rc != 0 && run.n_started == 0 && run.has_control &&
                 !lb_control_interrupted(&run) && !lb_control_has_connection(&run);
    lb_run_report(&run, "cleaning up", -1);
    struct lb_error clean_error;
    int clean_rc = lb_run_clean_up(&run, &clean_error);
    if (rc == 0 && clean_rc != 0) {
        rc = clean_rc;
        *err = clean_error;
    }
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
    do
        rc = run_once(plan, stop, progress, arg, &again, ret_outcome, err);
    while (again && lb_now_ns() < give_up_ns);
    return rc;
}
