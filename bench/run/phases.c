/* The phases of a run: see run_parts.h. */
#include "run_parts.h"

#include "array.h"
#include "beater.h"
#include "control.h"
#include "faults.h"
#include "gauges.h"
#include "intervals.h"
#include "leash.h"
#include "pool.h"
#include "readers.h"
#include "settler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

/* How long after the stop a worker may still wait inside the engine before it is cancelled. */
#define GRACE_NS UINT64_C(2000000000)
/* The maximum for holds of any length, if the user does not want to wait. */
#define CUT_SHORT_NS UINT64_C(5000000000)
#define LONG_HOLD_NS UINT64_C(60000000000)
/* A cancelled worker that has not returned after this time waits for a server that hangs. */
#define STANDSTILL_S UINT64_C(60)
/* A process that has not ended by then is killed. If no user waits for the end, the process may
 * only be starved. */
#define STARVED_NS    UINT64_C(10000000000)
#define FAULT_TICK_NS UINT64_C(3000000)
#define TICK_NS       UINT64_C(100000000)
/* Another rank may ask. While workers work, their time is not taken for that: a phase is announced
 * earlier than that, and a question about the clock, too. */
#define COMPANY_NS      UINT64_C(1000000)
#define BUSY_COMPANY_NS UINT64_C(20000000)
/* Between two samples of the waits of all sessions. */
#define SAMPLE_NS UINT64_C(20000000)

/* --- wait events of the sessions, sampled from the control session while the run is measured ---
 *
 * A sample asks the server once what each session of the run is doing at this moment. Over some
 * hundred samples the shares say where the workers' time goes on the server: a lock of a row, the
 * disk, or the client's turn. The price is one query per sample on a session of its own.
 */

static void add_wait(void *arg, const char *name, const char *value)
{
    struct lb_outcome *outcome = arg;
    uint64_t n = strtoull(value, NULL, 10);
    for (size_t i = 0; i < outcome->n_waits; i++)
        if (strcmp(outcome->waits[i].name, name) == 0) {
            outcome->waits[i].n += n;
            return;
        }
    struct lb_wait *wait = lb_array_add(&outcome->waits, &outcome->n_waits, sizeof *wait);
    wait->n = n;
    snprintf(wait->name, sizeof wait->name, "%s", name);
}

static bool wants_waits(const struct lb_active_run *run)
{
    const struct lb_db *db = run->team->db;
    return run->request->sample_waits && db != NULL && db->waits != NULL;
}

/* Samples them, if it is wanted and time. */
static void sample_waits(struct lb_active_run *run)
{
    struct lb_error ignored;
    if (!wants_waits(run) || lb_team_phase(run->team) != LB_PHASE_MEASURE ||
        run->control.conn == NULL || lb_conn_head(run->control.conn)->lost)
        return;
    uint64_t now_ns = lb_now_ns();
    if (now_ns < run->next_sample_ns)
        return;
    if (run->team->db->waits(run->control.conn, add_wait, run->outcome, &ignored) == 0)
        run->outcome->n_wait_samples++;
    /* From the end: a slow answer does not make the next sample follow at once. */
    run->next_sample_ns = lb_now_ns() + SAMPLE_NS;
}

/* --- steps --- */

/* True if `wanted` workers have reached the milestone, here and elsewhere. */
static bool is_there(const struct lb_active_run *run, enum lb_milestone milestone, uint32_t wanted)
{
    if (lb_common_counted(&run->team->common, milestone) < wanted)
        return false;
    if (run->company == NULL)
        return true;
    return milestone == LB_READY ? run->company->are_ready(run) : run->company->have_ended(run);
}

/* The end of a queue without producers is found by a few questions, one after the other. */
static bool is_busy(const struct lb_active_run *run)
{
    enum lb_phase phase = lb_team_phase(run->team);
    bool may_drain = run->request->scenario->shape == LB_QUEUE && !run->share.has_producers;
    return (phase == LB_PHASE_WARMUP || phase == LB_PHASE_MEASURE) && !may_drain;
}

static uint64_t next_look_ns(const struct lb_active_run *run)
{
    /* Faults are placed, and their victims buried, to some milliseconds; a rank that asks what time
     * it is here should not wait for the answer. */
    bool has_fault = run->request->scenario->fault != LB_FAULT_NONE;
    uint64_t wake_ns = lb_now_ns() + (run->company != NULL && !is_busy(run) ? COMPANY_NS
                                      : has_fault                           ? FAULT_TICK_NS
                                      : run->company != NULL                ? BUSY_COMPANY_NS
                                      : wants_waits(run)                    ? SAMPLE_NS
                                                                            : TICK_NS);
    const uint64_t stage_ns = lb_stages_next_ns(run);
    wake_ns = stage_ns < wake_ns ? stage_ns : wake_ns;
    return run->wake_ns != 0 && run->wake_ns < wake_ns ? run->wake_ns : wake_ns;
}

bool lb_phases_tick(struct lb_active_run *run, enum lb_milestone milestone, uint32_t wanted,
                    uint64_t until_ns)
{
    struct lb_team *team = run->team;
    uint64_t wake_ns = next_look_ns(run);
    uint32_t seen = lb_common_seen(&team->common);
    if (!is_there(run, milestone, wanted) && (!atomic_load(&team->drained) || run->company != NULL))
        lb_common_wait(&team->common, seen, until_ns < wake_ns ? until_ns : wake_ns);
    lb_processes_watch(run);
    lb_stages_watch(run);
    lb_faults_watch(run);
    sample_waits(run);
    if (run->company != NULL)
        run->company->poll(run);
    struct lb_error lost;
    if (team->db != NULL && team->db->space_check != NULL &&
        team->db->space_check(run->space, &lost) < 0)
        lb_team_fail(team, &lost);
    if (wanted < run->n_started) /* each worker that died above has a successor */
        wanted = run->n_started;
    return is_there(run, milestone, wanted);
}

void lb_phases_wait_ready(struct lb_active_run *run)
{
    while (!lb_phases_tick(run, LB_READY, run->n_started, UINT64_MAX) &&
           lb_control_interrupted(run) < 2)
        lb_run_report(run, "connecting", -1);
}

/* --- the measured part --- */

void lb_phases_measure(struct lb_active_run *run, uint64_t at_ns)
{
    struct lb_team *team = run->team;
    getrusage(RUSAGE_SELF, &run->usage_before);
    run->measure_ns = at_ns;
    run->outcome->start_unix_ms = lb_unix_ms();
    atomic_store(&team->measure_ns, run->measure_ns);
    run->interval_successes = lb_run_successes(run);
    run->first_successes = run->interval_successes - run->elsewhere.n_successes;
    lb_run_sample(run, run->measure_ns);
    run->interval_refusals = lb_run_refusals(run);
    lb_stages_begin(run);
    lb_team_raise(team, LB_PHASE_MEASURE);
}

void lb_phases_measured(struct lb_active_run *run)
{
    struct rusage usage;
    lb_stages_end(run);
    getrusage(RUSAGE_SELF, &usage);
    /* Last: workers count until the phase is raised, and their counts are divided by this time.
     */
    run->last_successes = lb_run_successes(run) - run->elsewhere.n_successes;
    run->stop_ns = lb_now_ns();
    atomic_store(&run->team->stop_ns, run->stop_ns);
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
}

/* --- the end --- */

/* Workers of other processes are cancelled there. */
static void cancel_all(struct lb_active_run *run)
{
    for (uint32_t i = 0; i < run->n_started && run->processes == NULL; i++)
        lb_worker_cancel(&run->workers[i]);
    if (run->team->pool != NULL)
        lb_pool_cancel(run->team->pool);
    if (run->readers != NULL)
        lb_readers_cancel(run->readers);
    lb_gauges_cancel(run->gauges);
}

/* Workers were cancelled, at since_ns at the latest, and still do not end. */
static void give_up(struct lb_active_run *run, uint64_t since_ns)
{
    uint64_t now_ns = lb_now_ns();
    uint64_t waited_ns = now_ns > since_ns ? now_ns - since_ns : 0;
    if (waited_ns > (lb_control_interrupted(run) > 0 ? GRACE_NS : STARVED_NS))
        lb_processes_end(run, true);
    if (waited_ns < STANDSTILL_S * 1000000000u || lb_leash_is_pulled())
        return;
    struct lb_error error;
    lb_fail(&error, LB_E_ENV,
            "the server stands still: statements that were cancelled did not end within %u s",
            (unsigned)STANDSTILL_S);
    lb_team_fail(run->team, &error);
    lb_leash_pull_late();
}

/* The longest hold that the end waits for. Of a distribution, at most a minute, or twice the mean.
 */
static uint64_t longest_hold_ns(const struct lb_scenario *scenario)
{
    const uint64_t twice_ns = 2 * scenario->hold_ns, most_ns = lb_scenario_hold_most_ns(scenario);
    const uint64_t long_ns = most_ns < LONG_HOLD_NS ? most_ns : LONG_HOLD_NS;
    return twice_ns > long_ns ? twice_ns : long_ns;
}

void lb_phases_stop(struct lb_active_run *run)
{
    struct lb_team *team = run->team;
    const struct lb_scenario *scenario = run->request->scenario;
    lb_team_raise(team, LB_PHASE_STOP);
    lb_backlog_free(run);
    uint64_t grace_ns = lb_now_ns() + GRACE_NS + longest_hold_ns(scenario) +
                        (scenario->overrun > 0 ? 4 * scenario->ttl_ns : 0);
    const uint64_t short_ns = lb_now_ns() + CUT_SHORT_NS;
    while (!lb_phases_tick(run, LB_ENDED, run->n_started, UINT64_MAX)) {
        lb_run_report(run, "stopping", -1);
        if (lb_control_interrupted(run) > 0 && grace_ns > short_ns)
            grace_ns = short_ns;
        if (lb_now_ns() < grace_ns && lb_control_interrupted(run) < 2 &&
            lb_team_phase(team) < LB_PHASE_ABORT)
            continue;
        lb_team_raise(team, LB_PHASE_ABORT);
        cancel_all(run);
        give_up(run, grace_ns);
    }
    if (run->processes != NULL)
        lb_processes_end(run, false);
    else if (team->n_carriers > 0)
        lb_carriers_end(run);
    else
        for (uint32_t i = 0; i < run->n_started; i++)
            pthread_join(run->workers[i].thread, NULL);
    lb_beater_end(run->beater);
    run->beater = NULL;
    if (run->team->pool != NULL)
        lb_pool_close(run->team->pool, &run->outcome->n_statements, &run->outcome->n_connects);
    lb_readers_end(run->readers);
    lb_settler_join(run->settler);
    lb_gauges_end(run->gauges);
    run->gauges = NULL;
    lb_faults_end(run);
    lb_watchdog_end(&run->watchdog);
}
