/* Answers from the points themselves: how many workers a demand needs that was reached within them,
 * and all answers where the law does not fit: see plan.h. A law that misses a point by 5 % names
 * the wrong number of workers for each demand of these 5 %.
 *
 * Between two numbers of workers that were measured throughput is taken for a line, and up to the
 * peak for one that does not fall (a running maximum): more workers than needed do not carry less
 * there. Intervals are by a bootstrap over the rounds of the sweep, each a block of runs of the
 * same minutes; a round is drawn for all numbers of workers at once. Few rounds make few different
 * draws: the interval always holds what was measured, and covers no more than the least and the
 * most of as many values cover of their median.
 */
#include "plan.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LEVELS = LB_PLAN_LEVELS + LB_PLAN_ADDED };

struct curve {
    size_t n;
    double workers[MOST_LEVELS], rate[MOST_LEVELS];
    size_t peak;
};

static void add_level(struct curve *curve, double workers)
{
    size_t i = 0;
    while (i < curve->n && curve->workers[i] < workers)
        i++;
    if ((i < curve->n && curve->workers[i] <= workers) || curve->n == MOST_LEVELS)
        return;
    memmove(curve->workers + i + 1, curve->workers + i, (curve->n - i) * sizeof *curve->workers);
    curve->workers[i] = workers;
    curve->n++;
}

static size_t n_rounds(const struct lb_plan *plan)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->n_points; i++)
        n = plan->points[i].round + 1 > n ? (size_t)plan->points[i].round + 1 : n;
    return n;
}

/* Means with each round as often as weight says; of all, where a level has none of these rounds, or
 * without weights. */
static void take_means(const struct lb_plan *plan, const double *weight, struct curve *curve)
{
    for (size_t l = 0; l < curve->n; l++) {
        double sum = 0, n = 0, all = 0, n_all = 0;
        for (size_t i = 0; i < plan->n_points; i++) {
            const struct lb_plan_point *point = &plan->points[i];
            if (!point->valid || (double)point->workers < curve->workers[l] ||
                (double)point->workers > curve->workers[l])
                continue;
            if (weight != NULL) {
                sum += weight[point->round] * point->run->successes_per_s;
                n += weight[point->round];
            }
            all += point->run->successes_per_s, n_all++;
        }
        curve->rate[l] = n > 0 ? sum / n : all / n_all;
    }
}

static void make_monotone(struct curve *curve)
{
    curve->peak = 0;
    for (size_t l = 1; l < curve->n; l++)
        curve->peak = curve->rate[l] > curve->rate[curve->peak] ? l : curve->peak;
    for (size_t l = 1; l < curve->peak; l++)
        curve->rate[l] = fmax(curve->rate[l], curve->rate[l - 1]);
}

/* NAN beyond what was measured. */
static double rate_at(const struct curve *curve, double workers)
{
    for (size_t l = 0; l < curve->n; l++) {
        if (curve->workers[l] < workers)
            continue;
        if (curve->workers[l] <= workers)
            return curve->rate[l];
        if (l == 0)
            break;
        double share =
            (workers - curve->workers[l - 1]) / (curve->workers[l] - curve->workers[l - 1]);
        return curve->rate[l - 1] + share * (curve->rate[l] - curve->rate[l - 1]);
    }
    return NAN;
}

/* The fewest that carry rate; INFINITY: none up to the peak. */
static double workers_at(const struct curve *curve, double rate)
{
    double first = curve->workers[0];
    size_t n = (size_t)(curve->workers[curve->peak] - first);
    for (size_t i = 0; i <= n; i++)
        if (rate_at(curve, first + (double)i) >= rate)
            return first + (double)i;
    return (double)INFINITY;
}

static bool make_curve(const struct lb_plan *plan, struct curve *curve)
{
    *curve = (struct curve){.n = 0};
    for (size_t i = 0; i < plan->n_points; i++)
        if (plan->points[i].valid)
            add_level(curve, (double)plan->points[i].workers);
    if (curve->n == 0)
        return false;
    take_means(plan, NULL, curve);
    make_monotone(curve);
    return true;
}

static double peak_of(const struct curve *curve, double unused)
{
    (void)unused;
    return curve->rate[curve->peak];
}

/* 50 % of two rounds, 75 % of three; 0 of one, which has no interval. */
static double coverage_of(size_t rounds)
{
    return fmin(0.95, 1 - 2 * pow(0.5, (double)rounds));
}

/* of(curve, x), and its interval; its value must be finite. */
static bool estimate(const struct lb_plan *plan, double (*of)(const struct curve *, double),
                     double x, struct lb_estimate *ret)
{
    struct curve curve;
    double drawn[LB_PLAN_SAMPLES];
    struct lb_random random;
    double value = make_curve(plan, &curve) ? of(&curve, x) : NAN;
    if (!isfinite(value))
        return false;
    size_t rounds = n_rounds(plan);
    double *weight = lb_malloc(rounds * sizeof *weight);
    lb_random_init(&random, plan->question->seed, 0x706f696e74u);
    for (size_t s = 0; s < LB_PLAN_SAMPLES; s++) {
        memset(weight, 0, rounds * sizeof *weight);
        for (size_t r = 0; r < rounds; r++)
            weight[lb_random_below(&random, rounds)]++;
        take_means(plan, weight, &curve);
        make_monotone(&curve);
        drawn[s] = of(&curve, x);
    }
    free(weight);
    lb_stats_sort(drawn, LB_PLAN_SAMPLES);
    ret->value = value;
    ret->interval = (struct lb_confidence){fmin(value, drawn[(size_t)(0.025 * LB_PLAN_SAMPLES)]),
                                           fmax(value, drawn[(size_t)(0.975 * LB_PLAN_SAMPLES)]),
                                           coverage_of(rounds)};
    return true;
}

bool lb_plan_points_at(const struct lb_plan *plan, double workers, struct lb_estimate *ret_rate)
{
    return estimate(plan, rate_at, workers, ret_rate);
}

bool lb_plan_points_workers(const struct lb_plan *plan, double rate, struct lb_estimate *ret_n)
{
    return estimate(plan, workers_at, rate, ret_n);
}

double lb_plan_points_need(const struct lb_plan *plan, double rate)
{
    struct curve curve;
    return make_curve(plan, &curve) ? workers_at(&curve, rate) : (double)INFINITY;
}

bool lb_plan_points_peak(const struct lb_plan *plan, double *ret_n, struct lb_estimate *ret_rate,
                         bool *ret_is_last)
{
    struct curve curve;
    if (!make_curve(plan, &curve) || !estimate(plan, peak_of, 0, ret_rate))
        return false;
    *ret_n = curve.workers[curve.peak];
    *ret_is_last = curve.peak + 1 == curve.n;
    return true;
}

static bool was_tried(const struct lb_plan *plan, double workers)
{
    for (size_t i = 0; i < plan->n_points; i++)
        if ((double)plan->points[i].workers >= workers &&
            (double)plan->points[i].workers <= workers)
            return true;
    return false;
}

/* The number of workers on which the answer hangs and which was not tried; 0: none. Where the
 * points do not reach the demand, the one within them of which the law says that it does. */
static uint64_t hanging(const struct lb_plan *plan)
{
    double demand = plan->question->demand_per_s, n = lb_plan_points_need(plan, demand);
    struct lb_estimate by_law;
    struct lb_error err;
    if (!isfinite(n)) {
        bool is_within = !plan->by_points &&
                         lb_usl_workers_for(&plan->fit, demand, &by_law, &err) == 0 &&
                         by_law.value <= plan->fit.largest_n;
        return is_within && !was_tried(plan, by_law.value) ? (uint64_t)by_law.value : 0;
    }
    if (!was_tried(plan, n))
        return (uint64_t)n;
    return n <= 1 || was_tried(plan, n - 1) ? 0 : (uint64_t)n - 1;
}

bool lb_plan_demand_by_points(const struct lb_plan *plan)
{
    double demand = plan->question->demand_per_s;
    struct lb_estimate by_law;
    struct lb_error err;
    return plan->by_points || isfinite(lb_plan_points_need(plan, demand)) ||
           (lb_usl_workers_for(&plan->fit, demand, &by_law, &err) == 0 &&
            by_law.value <= plan->fit.largest_n);
}

int lb_plan_refine(struct lb_plan *plan, const struct lb_lab *lab, struct lb_error *err)
{
    int rc = 0;
    for (int added = 0; added < LB_PLAN_ADDED && plan->has_fit && rc == 0; added++) {
        uint64_t workers = plan->question->demand_per_s > 0 ? hanging(plan) : 0;
        size_t before = plan->n_points;
        if (workers == 0)
            break;
        for (uint64_t round = 0; round < plan->question->n_repeat && rc == 0; round++)
            rc = lb_plan_measure(plan, workers, round, lab, err);
        if (plan->n_points == before)
            break;
    }
    plan->interrupted |= rc == LB_E_INTERRUPTED;
    return rc;
}
