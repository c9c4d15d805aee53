/* The phases of a scenario while it runs: see run_parts.h.
 *
 * Arrivals follow the schedule, which has the rates of the phases. Here the rest is switched: the
 * readers, the faults, and a transaction that stays open on a session of its own. Each phase's
 * successes and waits are counted from the counters of the workers.
 */
#include "run_parts.h"

#include "intervals.h"

static void take_snapshot(struct lb_active_run *run)
{
    struct lb_error err;
    int rc = lb_backlog_take_snapshot(run, &err);
    if (rc > LB_OK)
        lb_fail(&err, LB_E_ENV, "phase %s: no snapshot: %s",
                run->request->scenario->stages[run->stage].name, run->snapshot.message);
    if (rc != LB_OK)
        lb_team_fail(run->team, &err);
}

static void enter(struct lb_active_run *run, uint32_t number, uint64_t now_ns)
{
    const struct lb_stage *stage = &run->request->scenario->stages[number];
    run->stage = number;
    run->outcome->stages[number].start_ns = now_ns - run->measure_ns;
    run->stage_successes = lb_run_successes(run);
    lb_run_waits(run, run->stage_sums);
    atomic_store(&run->team->no_faults, !stage->faults);
    atomic_store(&run->team->no_readers, !stage->readers);
    if (stage->snapshot)
        take_snapshot(run);
    else
        lb_backlog_drop_snapshot(run);
}

static void leave(struct lb_active_run *run, uint64_t now_ns)
{
    struct lb_stage_figures *figures = &run->outcome->stages[run->stage];
    uint64_t sums[LB_COARSE_BUCKETS];
    lb_run_waits(run, sums);
    figures->length_ns = now_ns - run->measure_ns - figures->start_ns;
    figures->n_successes = lb_run_successes(run) - run->stage_successes;
    figures->p50_ns = lb_coarse_quantile(sums, run->stage_sums, 0.5);
    figures->p99_ns = lb_coarse_quantile(sums, run->stage_sums, 0.99);
}

void lb_stages_begin(struct lb_active_run *run)
{
    if (run->request->scenario->n_stages > 0)
        enter(run, 0, run->measure_ns);
}

void lb_stages_watch(struct lb_active_run *run)
{
    const struct lb_scenario *scenario = run->request->scenario;
    uint64_t now_ns = lb_now_ns();
    if (scenario->n_stages == 0 || run->measure_ns == 0 ||
        lb_team_phase(run->team) != LB_PHASE_MEASURE)
        return;
    uint32_t number = lb_stage_at(scenario, now_ns - run->measure_ns);
    if (number == run->stage)
        return;
    leave(run, now_ns);
    enter(run, number, now_ns);
}

uint64_t lb_stages_next_ns(const struct lb_active_run *run)
{
    const struct lb_scenario *scenario = run->request->scenario;
    return run->measure_ns > 0 && run->stage + 1 < scenario->n_stages
               ? run->measure_ns + lb_stage_start_ns(scenario, run->stage + 1)
               : UINT64_MAX;
}

void lb_stages_end(struct lb_active_run *run)
{
    if (run->request->scenario->n_stages == 0)
        return;
    leave(run, lb_now_ns());
    lb_backlog_drop_snapshot(run);
}
