/* One trial of a search: does the SLO hold at this rate? See plan.h.
 *
 * Percentiles alone do not show this: arrivals that no worker served have no latency. So the
 * expected arrivals are counted from the schedule, and the unserved ones must be no more than can
 * be under way (Little's law: rate x mean time), and must not grow.
 */
#include "plan.h"

#include "units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_ERRORS 0.01
#define MOST_GROWTH 0.01

const char *lb_trial_phase_name(enum lb_trial_phase phase)
{
    static const char *const names[] = {"first", "bracket", "bisect", "confirm"};
    return names[phase];
}

int lb_slo_parse(const char *text, struct lb_slo *ret, struct lb_error *err)
{
    struct lb_slo slo = {.quantile = 0};
    char number[16] = "";
    double percent;
    size_t digits = text[0] == 'p' ? strspn(text + 1, "0123456789.") : 0;
    const char *less = text + 1 + digits;
    if (digits > 0 && digits < sizeof number && *less == '<') {
        memcpy(number, text + 1, digits);
        const char *time = less + 1 + (less[1] == '=');
        time += strspn(time, " ");
        if (lb_parse_double(number, &percent) == 0 && lb_parse_ns(time, &slo.bound_ns) == 0 &&
            slo.bound_ns > 0)
            slo.quantile = strcmp(number, "999") == 0 ? 0.999 : percent / 100;
    }
    if (!(slo.quantile > 0 && slo.quantile <= 0.9999) || strlen(text) >= sizeof slo.text)
        return lb_fail(err, LB_E_USAGE,
                       "'%s' is not a percentile and a time, such as p99<50ms or p99.9<1s", text);
    snprintf(slo.text, sizeof slo.text, "%s", text);
    *ret = slo;
    return 0;
}

/* The share of errors among the results: of requested locks, or of items put. */
static double share_of_errors(const struct lb_outcome *run)
{
    const struct lb_counts *counts =
        &run->counts[run->config.shape == LB_QUEUE ? LB_M_PUT : LB_M_ACQUIRE];
    return counts->finished > 0 ? (double)counts->given_up / (double)counts->finished : 0;
}

/* By how many arrivals per second the backlog surely grew, as a share of the rate: the lower bound
 * of the slope of arrivals minus successes, from second to second. */
static double growth(const struct lb_outcome *run, double rate)
{
    enum { MOST = 600 };
    double x[MOST], y[MOST], backlog = 0;
    size_t n = 0;
    for (size_t i = 0; i < run->n_intervals && n < MOST; i++) {
        const struct lb_interval *interval = &run->intervals[i];
        backlog += (double)interval->n_due - (double)interval->n_successes;
        x[n] = (double)(interval->start_ns + interval->length_ns) / 1e9;
        /* The trend is relative to a mean above 0: measured from a level that surely is. */
        y[n++] = backlog + (double)run->n_due + 1;
    }
    struct lb_trend trend;
    if (n < 4 || lb_stats_trend(x, y, n, 0.95, &trend) != 0)
        return 0;
    double per_s = trend.change_interval.low * lb_stats_mean(y, n) / (x[n - 1] - x[0]);
    return per_s > 0 && rate > 0 ? per_s / rate : 0;
}

static double seconds_of(const struct lb_outcome *run)
{
    return (double)run->elapsed_ns / 1e9;
}

double lb_trial_served(const struct lb_outcome *run)
{
    const struct lb_histogram *response = run->response[LB_M_ACQUIRE];
    double served = run->config.shape == LB_QUEUE ? (double)run->n_items
                                                  : (double)run->counts[LB_M_ACQUIRE].succeeded;
    double due = (double)run->n_due;
    if (response != NULL && response->count > 0) {
        double rate = due / fmax(seconds_of(run), 1e-9);
        double in_flight = rate * lb_histogram_mean(response) / 1e9;
        served += in_flight + 2 * sqrt(in_flight); /* at one moment there may be more */
    }
    return due > 0 ? fmin(1, served / due) : 0;
}

/* Fills the numbers. */
static void measure(struct lb_trial *trial, const struct lb_slo *slo)
{
    const struct lb_outcome *run = trial->run;
    const struct lb_histogram *response = run->response[LB_M_ACQUIRE];
    trial->latency_ns = UINT64_MAX;
    trial->errors = share_of_errors(run);
    trial->backlog_growth = growth(run, trial->rate_per_s);
    trial->achieved = lb_trial_served(run);
    if (response != NULL && response->count > 0 && lb_histogram_enough(response, slo->quantile))
        trial->latency_ns = lb_histogram_quantile(response, slo->quantile);
}

/* A generator that is late makes waits longer, and none shorter. So an SLO that was kept all the
 * same was kept, and one that was missed by more than any arrival was late was missed. */
static bool stands_though_late(const struct lb_trial *trial, const struct lb_slo *slo)
{
    const struct lb_outcome *run = trial->run;
    if (run->state != LB_RUN_INVALID || run->pacing == NULL ||
        strncmp(run->reason, LB_LATE_GENERATOR, sizeof LB_LATE_GENERATOR - 1) != 0 ||
        trial->latency_ns == UINT64_MAX)
        return false;
    bool is_kept = trial->achieved >= LB_TRIAL_SERVED && trial->errors <= MOST_ERRORS &&
                   trial->backlog_growth <= MOST_GROWTH && trial->latency_ns < slo->bound_ns;
    return is_kept || trial->latency_ns >= slo->bound_ns + run->pacing->max;
}

void lb_trial_judge(struct lb_trial *trial, const struct lb_slo *slo)
{
    const struct lb_outcome *run = trial->run;
    char latency[32], bound[32];
    measure(trial, slo);
    bool is_usable = run->state == LB_RUN_COMPLETE || stands_though_late(trial, slo);
    trial->valid = is_usable && run->n_due > 0;
    trial->ok = false;
    char *why = trial->reason;
    size_t size = sizeof trial->reason;
    why[0] = '\0';
    if (!is_usable) {
        snprintf(why, size, "%s", run->reason);
    } else if (run->n_due == 0) {
        snprintf(why, size, "no arrivals");
    } else if (trial->achieved < LB_TRIAL_SERVED) {
        snprintf(why, size, "%.1f %% of the arrivals were served", trial->achieved * 100);
    } else if (trial->errors > MOST_ERRORS) {
        snprintf(why, size, "%.1f %% of the operations failed", trial->errors * 100);
    } else if (trial->backlog_growth > MOST_GROWTH) {
        snprintf(why, size, "the backlog grew by %.1f %% of the rate", trial->backlog_growth * 100);
    } else if (trial->latency_ns == UINT64_MAX) {
        trial->valid = false;
        snprintf(why, size, "too few samples for %s", slo->text);
    } else if (trial->latency_ns >= slo->bound_ns) {
        snprintf(why, size, "%s, the bound is %s",
                 lb_format_ns(trial->latency_ns, latency, sizeof latency),
                 lb_format_ns(slo->bound_ns, bound, sizeof bound));
    } else {
        trial->ok = true;
    }
}
