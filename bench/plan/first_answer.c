/* The first answer to how many workers a demand needs: from one run, by queueing theory.
 *
 * The run says how long one job keeps a worker: its hold, its end and the statement that claims it.
 * The wait of a G/G/c queue is approximated as Allen and Cunneen do: Erlang's probability that an
 * arrival waits, and an exponential tail, both scaled by the variation of arrivals and jobs. A lock
 * serves no more at once than it has resources. The approximation knows nothing of polls, of
 * contention among more workers, or of the machine: so its answer is the first number that is
 * tried, and is never the last word.
 */
#include "plan.h"

#include <math.h>

bool lb_plan_asks_need(const struct lb_plan_question *question)
{
    return question->has_slo && question->demand_per_s > 0;
}

bool lb_plan_sweeps(const struct lb_plan_question *question)
{
    return !lb_plan_asks_need(question) || question->at > 0;
}

/* Twice the share of a worker that the holds alone take, and two more: a run that is not overloaded
 * shows a job's time best. */
uint64_t lb_plan_first_workers(const struct lb_plan *plan)
{
    const struct lb_plan_question *question = plan->question;
    uint64_t most = question->levels[question->n_levels - 1];
    double wanted = ceil(2 * question->demand_per_s * (double)plan->scenario.hold_ns / 1e9) + 2;
    return wanted < (double)most ? (uint64_t)wanted : most;
}

static double variance_ns2(const struct lb_histogram *histogram)
{
    double mean = lb_histogram_mean(histogram), sum = 0;
    for (size_t i = 0; i < LB_HISTOGRAM_BUCKETS; i++) {
        if (histogram->buckets[i] == 0)
            continue;
        double off = ((double)lb_histogram_low(i) + (double)lb_histogram_high(i)) / 2 - mean;
        sum += (double)histogram->buckets[i] * off * off;
    }
    return histogram->count > 0 ? sum / (double)histogram->count : 0;
}

static bool has(const struct lb_histogram *histogram)
{
    return histogram != NULL && histogram->count > 0;
}

/* The median of the claims: their mean has the waits for other workers in it. */
static void measure_service(struct lb_plan_need *need, const struct lb_outcome *run)
{
    const struct lb_histogram *claim = run->service[LB_M_ACQUIRE];
    double mean_ns = 0, variance = 0;
    need->claim_s = has(claim) ? (double)lb_histogram_quantile(claim, 0.5) / 1e9 : 0;
    for (int m = LB_M_HOLD; m <= LB_M_RELEASE; m++) {
        if (!has(run->service[m]))
            continue;
        mean_ns += lb_histogram_mean(run->service[m]);
        variance += variance_ns2(run->service[m]);
    }
    need->service_s = need->claim_s + mean_ns / 1e9;
    need->service_scv =
        need->service_s > 0 ? variance / 1e18 / (need->service_s * need->service_s) : 0;
}

/* The time from arrival to grant that a share q of the arrivals does not exceed. */
static double wait_s(const struct lb_plan *plan, uint64_t servers)
{
    const struct lb_plan_need *need = &plan->need;
    double rate = plan->question->demand_per_s, load = rate * need->service_s, blocked = 1;
    double c = (double)servers, variation = (!plan->question->even + need->service_scv) / 2;
    if (load >= c)
        return (double)INFINITY;
    for (uint64_t n = 1; n <= servers; n++)
        blocked = load * blocked / ((double)n + load * blocked);
    double waits = blocked / (1 - load / c * (1 - blocked));
    double tail = fmax(variation, 1e-3) / (c / need->service_s - rate);
    return need->claim_s + fmax(0, tail * log(waits / (1 - plan->question->slo.quantile)));
}

void lb_plan_first_answer(struct lb_plan *plan, const struct lb_outcome *run)
{
    struct lb_plan_need *need = &plan->need;
    const double bound_s = (double)plan->question->slo.bound_ns / 1e9;
    uint64_t most = need->most;
    if (plan->scenario.shape == LB_LOCK && plan->scenario.capacity[0] == '1' &&
        plan->scenario.capacity[1] == '\0' && plan->scenario.resources < most)
        most = plan->scenario.resources;
    measure_service(need, run);
    if (need->service_s <= 0)
        return;
    need->has_first = true;
    for (uint64_t n = 1; n <= most && need->first == 0; n++)
        if (wait_s(plan, n) < bound_s)
            need->first = n;
    need->first_wait_s = wait_s(plan, need->first > 0 ? need->first : most);
}
