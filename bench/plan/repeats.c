/* More runs where the first ones differ: sequential stopping. See plan.h.
 *
 * A number of workers whose throughput is known well enough is left alone; of the others, the one
 * with the largest uncertainty is run again, and so on, until all are known well, or have reached
 * the limit of runs, or the plan has used its time. A steady machine needs few runs, a noisy one
 * uses all the time. Time that the questions still need is reserved.
 */
#include "plan.h"

#include "distribution.h"

#include <math.h>

/* Half of a mean's 95 % interval, as a share of the mean: known so well, it is left alone. */
#define KNOWN 0.05
/* Runs that a search for the rate of an SLO takes, of a sweep's length: some eight trials, and
 * three that confirm, of twice the length. */
enum { SEARCH_RUNS = 14, REFINE_LEVELS = 3 };

/* By the clock: its tables, its sessions and its verdict take longer than the run itself on a
 * machine that is busy. */
static double cost_of(const struct lb_plan *plan, const struct lb_plan_point *point)
{
    return fmax((double)point->took_ns,
                (double)plan->scenario.warmup_ns + (double)point->run->elapsed_ns);
}

/* The time that the sweep has used, and the mean of its runs. */
static double spent_ns(const struct lb_plan *plan, double *ret_mean)
{
    double sum = 0;
    for (size_t i = 0; i < plan->n_points; i++)
        sum += cost_of(plan, &plan->points[i]);
    *ret_mean = plan->n_points > 0 ? sum / (double)plan->n_points : 0;
    return sum;
}

/* The uncertainty of the throughput at this number of workers, and its number of runs. INFINITY:
 * unknown. */
static double uncertainty(const struct lb_plan *plan, uint64_t workers, uint64_t *ret_runs)
{
    double sum = 0, squares = 0, n = 0;
    *ret_runs = 0;
    for (size_t i = 0; i < plan->n_points; i++) {
        const struct lb_plan_point *point = &plan->points[i];
        if (point->workers != workers)
            continue;
        ++*ret_runs;
        if (!point->valid)
            continue;
        sum += point->run->successes_per_s;
        squares += point->run->successes_per_s * point->run->successes_per_s;
        n++;
    }
    if (n < 2)
        return (double)INFINITY;
    double mean = sum / n, variance = fmax(0, squares / n - mean * mean) * n / (n - 1);
    return lb_t_quantile(0.975, n - 1) * sqrt(variance / n) / mean;
}

/* The number of workers that is known worst and may be run again; 0: none. */
static uint64_t known_worst(const struct lb_plan *plan, uint64_t *ret_runs)
{
    uint64_t found = 0, runs;
    double most = KNOWN;
    for (size_t i = 0; i < plan->n_points; i++) {
        double one = uncertainty(plan, plan->points[i].workers, &runs);
        if (one <= most || runs >= plan->question->most_repeat)
            continue;
        most = one;
        found = plan->points[i].workers;
        *ret_runs = runs;
    }
    return found;
}

/* refined: the numbers of workers on which the demand hangs were measured. */
static bool has_time(const struct lb_plan *plan, bool refined)
{
    const struct lb_plan_question *question = plan->question;
    double mean, spent = spent_ns(plan, &mean), runs = 1;
    if (question->demand_per_s > 0 && !refined)
        runs += REFINE_LEVELS * (double)question->n_repeat;
    if (question->has_slo)
        runs += SEARCH_RUNS;
    return spent + runs * mean <= (double)question->budget_ns;
}

int lb_plan_repeat(struct lb_plan *plans, size_t n, bool refined, const struct lb_lab *lab,
                   struct lb_error *err)
{
    int rc = 0;
    for (bool is_any = true; is_any && rc == 0;) { /* one run of each in turns */
        is_any = false;
        for (size_t i = 0; i < n && rc == 0; i++) {
            struct lb_plan *plan = &plans[i];
            uint64_t runs = 0;
            uint64_t workers = plan->refusal[0] == '\0' ? known_worst(plan, &runs) : 0;
            if (workers == 0 || !has_time(plan, refined))
                continue;
            rc = lb_plan_measure(plan, workers, runs, lab, err);
            plan->interrupted |= rc == LB_E_INTERRUPTED;
            is_any = true;
        }
    }
    return rc;
}
