/* Run lengths within a budget: see length.h.
 *
 * The resolution of a table depends more on the number of rounds in its time than on their length.
 * The variance of a run's rate is a + b/d, d being the length of its measured part: runs of one
 * strategy differ by a, at any length. With 6 strategies in turns on a busy machine, the standard
 * deviations beside the round were 21 % at 0.3 s, 13 % at 0.6 s and 8.7 % at 2 s
 * (docs/design/compare.md). That is the least variance for the time near 0.6 s, where start and
 * warm-up take 0.2 s more.
 *
 * A verdict may depend on the length: a bound of 1.8 s on waits cannot be tested in 0.6 s. So the
 * first run of a strategy that claims it has the scenario's duration, and the others do not judge
 * it. A strategy with so few successes that their number alone would scatter is run for longer.
 *
 * Left as they are: runs whose length the user has given, in a file or as an option; those in which
 * something is due at certain times; and queues, which end by themselves or have producers that
 * give the pace.
 */
#include "length.h"

#include <math.h>

#define SHORT_NS        UINT64_C(600000000)
#define SHORT_WARMUP_NS UINT64_C(100000000)
enum { ENOUGH_SUCCESSES = 30, CYCLES = 50 };

static bool may_be_short(const struct lb_report *report, const struct lb_cell *cell)
{
    const struct lb_scenario *s = &cell->scenario;
    bool has_times = s->fault != LB_FAULT_NONE || s->rate[0] != '\0' || s->holds[0] != '\0' ||
                     s->period_ns > 0 || s->overrun > 0 || s->renew_ns > 0 || s->stale_ns > 0 ||
                     s->acquire_timeout_ns > 0;
    return !report->keeps_length && !lb_scenario_is_file(cell->scenario_path) &&
           s->shape == LB_LOCK && s->count == 0 && !has_times && s->duration_ns > SHORT_NS &&
           s->warmup_ns > SHORT_WARMUP_NS && CYCLES * (s->hold_ns + s->think_ns) <= SHORT_NS;
}

/* Can the whole length show what the short one cannot? */
static bool is_judged_by_length(const struct lb_report *report, const struct lb_cell *cell)
{
    bool claims = (cell->strategy->claims & LB_G_BIT(LB_G_PROGRESS)) != 0;
    return report->records && cell->scenario.progress_bound_ns > 0 &&
           (claims || cell->strategy->breaks != NULL);
}

/* For a number of successes that tells a rate. */
static double needed_ns(const struct lb_cell *cell, size_t n_runs)
{
    double sum = 0;
    for (size_t i = 0; i < n_runs; i++)
        sum += cell->runs[i]->successes_per_s;
    return sum > 0 ? 1e9 * ENOUGH_SUCCESSES * (double)n_runs / sum : SHORT_NS;
}

void lb_length_choose(const struct lb_report *report, const struct lb_cell *cell, size_t n_runs,
                      struct lb_scenario *ret)
{
    *ret = cell->scenario;
    if (!may_be_short(report, cell) || (n_runs == 0 && is_judged_by_length(report, cell)))
        return;
    size_t n_known = n_runs < cell->n_runs ? n_runs : cell->n_runs;
    double ns = fmax(SHORT_NS, needed_ns(cell, n_known));
    ret->duration_ns = (uint64_t)fmin(ns, (double)ret->duration_ns);
    ret->warmup_ns = SHORT_WARMUP_NS;
    if (is_judged_by_length(report, cell))
        ret->progress_bound_ns = 0;
}
