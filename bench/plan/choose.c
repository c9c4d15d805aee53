/* Which of several strategies up to which demand: see plan.h.
 *
 * Demand is walked upwards in steps of 1 %. Where two strategies need about as many workers the
 * one that has been taken so far stays, so that noise makes no rows of its own.
 */
#include "plan.h"

#include <math.h>

#define STEP 1.01
#define TIE  1.25 /* a quarter more workers and one is no reason to change */

/* Workers that the plan needs for rate; INFINITY: it cannot, or cannot say. */
static double needs(const struct lb_plan *plan, double rate)
{
    struct lb_estimate capacity, n;
    struct lb_error err;
    if (plan->by_points && plan->slo_state == LB_SLO_NOT_ASKED)
        return lb_plan_points_need(plan, rate);
    if (!lb_plan_capacity(plan, &capacity) || rate > capacity.value)
        return (double)INFINITY;
    if (plan->by_points)
        return lb_plan_points_need(plan, rate);
    if (lb_usl_workers_for(&plan->fit, rate, &n, &err) != 0)
        return (double)INFINITY;
    return n.value;
}

static double capacity_of(const struct lb_plan *plan)
{
    struct lb_estimate capacity;
    return lb_plan_capacity(plan, &capacity) ? capacity.value : 0;
}

/* Fewest workers for rate; of several with as few, the one that carries most with them. NULL: none
 * can. */
static const struct lb_plan *best_for(const struct lb_plan *plans, const bool *usable, size_t n,
                                      double rate, double *ret_fewest)
{
    const struct lb_plan *best = NULL;
    double fewest = (double)INFINITY;
    for (size_t i = 0; i < n; i++) {
        double workers = usable[i] && plans[i].has_fit ? needs(&plans[i], rate) : (double)INFINITY;
        if (!isfinite(workers))
            continue;
        if (best == NULL || workers < fewest ||
            (workers <= fewest &&
             lb_usl_at(&plans[i].fit.best, workers) > lb_usl_at(&best->fit.best, workers))) {
            best = &plans[i];
            fewest = workers;
        }
    }
    *ret_fewest = fewest;
    return best;
}

/* Does no other plan carry this rate, even by the upper end of its interval? */
static bool is_clear(const struct lb_plan *plans, const bool *usable, size_t n,
                     const struct lb_plan *taken, double rate)
{
    for (size_t i = 0; i < n; i++) {
        struct lb_estimate capacity;
        if (&plans[i] != taken && usable[i] && lb_plan_capacity(&plans[i], &capacity) &&
            capacity.interval.high >= rate)
            return false;
    }
    return true;
}

/* The fewest workers that were measured to keep the SLO at the demand; of as few, the shortest
 * waits. */
static size_t choose_by_need(const struct lb_plan *plans, const bool *usable, size_t n,
                             struct lb_plan_choice *ret)
{
    const struct lb_plan *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct lb_plan_need *need = &plans[i].need;
        if (usable[i] && need->workers > 0 &&
            (best == NULL || need->workers < best->need.workers ||
             (need->workers == best->need.workers && need->worst_ns < best->need.worst_ns)))
            best = &plans[i];
    }
    if (best == NULL)
        return 0;
    *ret = (struct lb_plan_choice){best->question->demand_per_s, best, (double)best->need.workers,
                                   true};
    return 1;
}

size_t lb_plan_choose(const struct lb_plan *plans, const bool *usable, size_t n,
                      struct lb_plan_choice *ret, size_t room)
{
    if (n > 0 && !lb_plan_sweeps(plans[0].question))
        return choose_by_need(plans, usable, n, ret);
    double least = (double)INFINITY, most = 0;
    size_t n_rows = 0;
    for (size_t i = 0; i < n; i++) {
        double capacity = usable[i] ? capacity_of(&plans[i]) : 0;
        if (capacity <= 0)
            continue;
        least = fmin(least, capacity / 100);
        most = fmax(most, capacity);
    }
    const struct lb_plan *taken = NULL;
    for (int step = 0; isfinite(least); step++) {
        double fewest, rate = least * pow(STEP, step), asked = fmin(rate, most);
        const struct lb_plan *best = best_for(plans, usable, n, asked, &fewest);
        if (best == NULL)
            break;
        if (taken == NULL || needs(taken, asked) > TIE * fewest + 1) {
            if (n_rows == room)
                break;
            taken = best;
            ret[n_rows++] = (struct lb_plan_choice){.plan = taken};
        }
        struct lb_plan_choice *row = &ret[n_rows - 1];
        row->up_to_per_s = asked;
        row->workers = needs(taken, asked);
        if (rate >= most)
            break;
    }
    for (size_t i = 0; i < n_rows; i++)
        ret[i].clear =
            i + 1 < n_rows || is_clear(plans, usable, n, ret[i].plan, ret[i].up_to_per_s);
    return n_rows;
}
