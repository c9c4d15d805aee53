/* Had a run reached a steady state? See steady.h.
 *
 * Runs that cannot have a steady state are exempt: a queue that is emptied, an open loop of phases,
 * a run with faults. The pieces lie between the samples, a tenth of a second each in a short run.
 */
#include "steady.h"

#include "schedule.h"

#include <string.h>

const char *lb_steadiness_name(enum lb_steadiness_verdict verdict)
{
    static const char *const names[] = {[LB_RUN_STEADY] = "steady",
                                        [LB_RUN_DRIFTING] = "drifting",
                                        [LB_RUN_UNCLEAR] = "unclear",
                                        [LB_RUN_NOT_JUDGED] = "not judged"};
    return names[verdict];
}

/* Fewer pieces cannot show a trend. */
enum { FEWEST_PIECES = 8 };

static const char *why_not(const struct lb_outcome *run)
{
    const struct lb_scenario *scenario = &run->config;
    if (scenario->drain)
        return "a queue that is emptied has an end, and no steady state";
    if (lb_schedule_is_trace(scenario->rate) || strncmp(scenario->rate, "phases:", 7) == 0 ||
        strstr(scenario->rate, "repeat:") != NULL || strstr(scenario->rate, "phases:") != NULL)
        return "the rate is planned to change";
    if (scenario->n_stages > 0)
        return "it has phases";
    if (scenario->fault != LB_FAULT_NONE)
        return "faults are meant to disturb it";
    if (scenario->period_ns > 0)
        return "recurring work comes in bursts";
    if (run->n_samples < FEWEST_PIECES + 1)
        return "the measured part is shorter than a second";
    return "";
}

void lb_run_steadiness(const struct lb_outcome *run, struct lb_steadiness *ret)
{
    double x[LB_SAMPLES], y[LB_SAMPLES];
    struct lb_trend trend;
    size_t n = 0;
    *ret = (struct lb_steadiness){.verdict = LB_RUN_NOT_JUDGED, .reason = why_not(run)};
    if (ret->reason[0] != '\0')
        return;
    for (size_t i = 1; i < run->n_samples; i++) {
        const struct lb_sample *a = &run->samples[i - 1], *b = &run->samples[i];
        double seconds = (double)(b->at_ns - a->at_ns) / 1e9;
        if (seconds <= 0)
            continue;
        x[n] = ((double)a->at_ns + (double)b->at_ns) / 2e9;
        y[n++] = (double)(b->n_successes - a->n_successes) / seconds;
    }
    if (n < FEWEST_PIECES || lb_stats_trend(x, y, n, LB_STEADY_LEVEL, &trend) != 0) {
        ret->reason = "nothing succeeded";
        return;
    }
    ret->change = (struct lb_estimate){trend.change, trend.change_interval};
    switch (lb_stats_steady(&trend, LB_STEADY_TOLERANCE)) {
    case LB_STEADY:
        ret->verdict = LB_RUN_STEADY;
        return;
    case LB_DRIFTING:
        ret->verdict = LB_RUN_DRIFTING;
        return;
    case LB_UNCLEAR:
    default:
        ret->verdict = LB_RUN_UNCLEAR;
    }
}
