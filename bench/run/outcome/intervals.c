/* The measured part by seconds: rates and latencies while the run goes on. */
#include "intervals.h"

#include "array.h"
#include "gauges.h"

#include <string.h>

uint64_t lb_run_refusals(const struct lb_active_run *run)
{
    uint64_t sum = run->elsewhere.n_refusals;
    for (uint32_t i = 0; i < run->n_started; i++)
        sum += atomic_load_explicit(&run->workers[i].refusals, memory_order_relaxed);
    return sum;
}

uint64_t lb_run_successes(const struct lb_active_run *run)
{
    uint64_t sum = run->elsewhere.n_successes;
    for (uint32_t i = 0; i < run->n_started; i++)
        sum += atomic_load_explicit(&run->workers[i].progress, memory_order_relaxed);
    return sum;
}

void lb_run_waits(const struct lb_active_run *run, uint64_t ret_sums[LB_COARSE_BUCKETS])
{
    memcpy(ret_sums, run->elsewhere.sums, sizeof run->elsewhere.sums);
    for (uint32_t i = 0; i < run->n_started; i++)
        lb_coarse_add(&run->workers[i].coarse, ret_sums);
}

const struct lb_interval *lb_run_interval(struct lb_active_run *run, bool force)
{
    struct lb_outcome *outcome = run->outcome;
    uint64_t now_ns = lb_now_ns();
    bool has_begun = run->interval_ns != 0;
    if (!has_begun)
        run->interval_ns = run->measure_ns;
    if (now_ns < run->interval_ns + lb_run_interval_ns(run->request->scenario) &&
        !(force && now_ns > run->interval_ns))
        return NULL;
    uint64_t sums[LB_COARSE_BUCKETS];
    uint64_t successes = lb_run_successes(run), refusals = lb_run_refusals(run);
    lb_run_waits(run, sums);
    struct lb_interval *interval =
        lb_array_add(&outcome->intervals, &outcome->n_intervals, sizeof *interval);
    *interval =
        (struct lb_interval){.start_ns = run->interval_ns - run->measure_ns,
                             .length_ns = now_ns - run->interval_ns,
                             .n_successes = successes - run->interval_successes,
                             .n_refusals = refusals - run->interval_refusals,
                             .p50_ns = lb_coarse_quantile(sums, run->interval_sums, 0.5),
                             .p99_ns = lb_coarse_quantile(sums, run->interval_sums, 0.99),
                             .n_overlaps = lb_live_overlaps(run->live) + run->elsewhere.n_overlaps};
    lb_gauges_take(run, interval);
    memcpy(run->interval_sums, sums, sizeof sums);
    run->interval_successes = successes;
    run->interval_refusals = refusals;
    run->interval_ns = now_ns;
    return interval;
}

/* Memory stays as it is however long the run: when there is no room, every second sample goes, and
 * the next are twice as far apart. */
void lb_run_sample(struct lb_active_run *run, uint64_t now_ns)
{
    enum { FIRST_SPACING_NS = 100000000 };
    struct lb_outcome *outcome = run->outcome;
    struct lb_sample *samples = outcome->samples;
    uint64_t at_ns = now_ns - run->measure_ns;
    if (run->sample_spacing_ns == 0)
        run->sample_spacing_ns = FIRST_SPACING_NS;
    size_t n = outcome->n_samples;
    if (n > 0 && at_ns < samples[n - 1].at_ns + run->sample_spacing_ns)
        return;
    uint64_t successes = lb_run_successes(run);
    if (n == LB_SAMPLES) {
        for (n = 0; n < LB_SAMPLES / 2; n++)
            samples[n] = samples[2 * n];
        run->sample_spacing_ns *= 2;
    }
    samples[n++] = (struct lb_sample){at_ns, successes};
    outcome->n_samples = n;
}

static struct lb_worker_view view_of(const struct lb_worker *worker, uint64_t now_ns)
{
    /* Relaxed: a picture, which may be late by some. */
    uint64_t since_ns = atomic_load_explicit(&worker->waits_since_ns, memory_order_relaxed);
    return (struct lb_worker_view){
        .number = worker->number,
        .has_ended = atomic_load(&worker->ended),
        .has_died = worker->died,
        .n_successes = atomic_load_explicit(&worker->progress, memory_order_relaxed),
        .waits_ns = since_ns > 0 && now_ns > since_ns ? now_ns - since_ns : 0};
}

/* Walks over all workers' histograms: a cost only for watched runs. */
static void watch(struct lb_active_run *run, struct lb_progress *progress,
                  uint64_t waits[LB_COARSE_BUCKETS], struct lb_worker_view views[LB_WORKER_VIEWS])
{
    uint64_t now_ns = lb_now_ns();
    uint32_t n_ended = run->team != NULL ? lb_common_counted(&run->team->common, LB_ENDED) : 0;
    lb_run_waits(run, waits);
    for (uint32_t i = 0; i < run->n_started && i < LB_WORKER_VIEWS; i++)
        views[progress->n_views++] = view_of(&run->workers[i], now_ns);
    progress->workers = views;
    progress->n_refusals = lb_run_refusals(run);
    progress->n_faults =
        (run->team != NULL ? atomic_load(&run->team->n_faults) : 0) + run->elsewhere.n_faults;
    progress->n_workers = run->n_started > n_ended ? run->n_started - n_ended : 0;
    progress->waits = waits;
}

void lb_run_report(struct lb_active_run *run, const char *phase, double fraction)
{
    uint64_t now = lb_now_ns(), sum = lb_run_successes(run);
    double seconds = (double)(now - run->last_tick_ns) / 1e9;
    struct lb_progress progress = {
        .phase = phase,
        .fraction = fraction,
        .n_successes = sum,
        .successes_per_s = seconds > 0 ? (double)(sum - run->last_progress) / seconds : 0,
        .n_overlaps =
            run->live != NULL ? lb_live_overlaps(run->live) + run->elsewhere.n_overlaps : 0};
    if (run->team != NULL && lb_team_phase(run->team) == LB_PHASE_MEASURE) {
        progress.interval = lb_run_interval(run, false);
        lb_run_sample(run, now);
    }
    run->last_tick_ns = now;
    run->last_progress = sum;
    uint64_t waits[LB_COARSE_BUCKETS] = {0};
    struct lb_worker_view views[LB_WORKER_VIEWS];
    if (run->request->is_watched)
        watch(run, &progress, waits, views);
    if (run->progress != NULL)
        run->progress(run->progress_arg, &progress);
}

/* The schedule is walked once more: arrivals that workers did not take are in none of their
 * counters.
 */
void lb_run_count_due(struct lb_active_run *run)
{
    struct lb_outcome *outcome = run->outcome;
    struct lb_schedule schedule;
    if (!run->team->open_loop)
        return;
    lb_schedule_again(&run->team->schedule, &schedule);
    uint64_t from_ns = run->measure_ns - run->team->schedule_start_ns;
    uint64_t until_ns = run->stop_ns - run->team->schedule_start_ns, at_ns;
    size_t i = 0;
    while ((at_ns = lb_schedule_next(&schedule, NULL)) < until_ns) {
        if (at_ns < from_ns)
            continue;
        outcome->n_due++;
        for (uint32_t k = 0; k < outcome->config.n_stages; k++) {
            struct lb_stage_figures *stage = &outcome->stages[k];
            stage->n_due += at_ns - from_ns >= stage->start_ns &&
                            at_ns - from_ns < stage->start_ns + stage->length_ns;
        }
        while (i < outcome->n_intervals &&
               at_ns - from_ns >= outcome->intervals[i].start_ns + outcome->intervals[i].length_ns)
            i++;
        if (i < outcome->n_intervals)
            outcome->intervals[i].n_due++;
    }
}
