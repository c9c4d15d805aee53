/* From a sweep to a curve: see plan.h. */
#include "plan.h"

#include "append.h"
#include "memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A deviation of a level's mean from the law above which predictions are doubtful. */
#define MOST_RESIDUAL 0.2
/* Of steady runs, up to one in 20 is taken for drifting. */
#define MOST_DRIFTING 0.1

static void add_doubt(struct lb_plan *plan, const char *text)
{
    lb_append(plan->doubts, sizeof plan->doubts, "%s%s", plan->doubts[0] != '\0' ? "; " : "", text);
}

double lb_plan_mean_at(const struct lb_plan *plan, uint64_t workers)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < plan->n_points; i++)
        if (plan->points[i].valid && plan->points[i].workers == workers) {
            sum += plan->points[i].run->successes_per_s;
            n++;
        }
    return n > 0 ? sum / n : 0;
}

static size_t count_levels(const struct lb_plan *plan)
{
    size_t n = 0;
    for (size_t l = 0; l < plan->question->n_levels; l++)
        n += lb_plan_mean_at(plan, plan->question->levels[l]) > 0;
    return n;
}

static void refuse(struct lb_plan *plan, const char *why)
{
    const struct lb_plan_point *bad = NULL;
    char reason[300] = "";
    size_t n_bad = 0;
    for (size_t i = 0; i < plan->n_points; i++)
        if (!plan->points[i].valid) {
            bad = bad == NULL ? &plan->points[i] : bad;
            n_bad++;
        }
    if (bad != NULL)
        snprintf(reason, sizeof reason, " (%zu run%s not valid; with %llu worker%s: %.150s)", n_bad,
                 n_bad == 1 ? " was" : "s were", (unsigned long long)bad->workers,
                 bad->workers == 1 ? "" : "s", bad->reason);
    if (plan->refusal[0] == '\0')
        snprintf(plan->refusal, sizeof plan->refusal, "%s%s%s",
                 plan->interrupted ? "interrupted: " : "", why, reason);
}

static void find_doubts(struct lb_plan *plan)
{
    char text[200];
    size_t n_drifting = 0, n_bad = 0;
    for (size_t i = 0; i < plan->n_points; i++) {
        n_drifting += plan->points[i].valid && plan->points[i].drifts;
        n_bad += !plan->points[i].valid;
    }
    if (plan->fit.worst_residual > MOST_RESIDUAL) {
        plan->by_points = true;
        snprintf(
            plan->misfit, sizeof plan->misfit,
            "The law does not fit: it misses a measured throughput by %.0f %%. The answers are "
            "from the points, not from the curve",
            plan->fit.worst_residual * 100);
    }
    if (plan->question->n_repeat == 1 && plan->question->most_repeat <= 1)
        add_doubt(plan,
                  "each number of workers was run once, so nothing tells how much runs differ: "
                  "use --repeat 3 or more");
    if ((double)n_drifting > MOST_DRIFTING * (double)plan->n_points) {
        snprintf(
            text, sizeof text,
            "throughput drifted by more than 10 %% in %zu of %zu runs: use a longer --warmup and "
            "--duration",
            n_drifting, plan->n_points);
        add_doubt(plan, text);
    }
    if (n_bad > 0) {
        snprintf(text, sizeof text,
                 "%zu of %zu runs were not valid and are left out: fewer --workers, or a machine "
                 "that does nothing else",
                 n_bad, plan->n_points);
        add_doubt(plan, text);
    }
    if (plan->interrupted) {
        uint64_t whole = plan->question->n_levels * plan->question->n_repeat;
        char done[60] = "";
        if (plan->n_points < whole)
            snprintf(done, sizeof done, " after %zu of %llu runs of the sweep", plan->n_points,
                     (unsigned long long)whole);
        snprintf(text, sizeof text, "interrupted%s: --resume goes on, if it was stored with -o",
                 done);
        add_doubt(plan, text);
    }
}

/* The curve from 1 worker to the largest number measured and half as many more, or to where the
 * peak can be seen. Whole numbers of workers, about evenly. */
static void draw_band(struct lb_plan *plan)
{
    double last = plan->fit.largest_n * 1.5, step = fmax(1, (last - 1) / (LB_PLAN_BAND - 1));
    struct lb_error err;
    for (size_t i = 0; i < LB_PLAN_BAND && 1 + step * (double)i <= last + 0.5; i++) {
        struct lb_estimate rate;
        double whole = round(1 + step * (double)i);
        if (lb_usl_predict(&plan->fit, whole, &rate, &err) != 0)
            break;
        plan->band[plan->n_band].workers = whole;
        plan->band[plan->n_band++].rate = rate;
    }
}

/* The number of workers that was measured nearest to the peak, from below if need be: what the
 * answers are for when the user does not say. Without a fit, the one with the highest mean. */
static uint64_t choose_at(const struct lb_plan *plan)
{
    const struct lb_plan_question *question = plan->question;
    uint64_t best = 0;
    double most = 0;
    for (size_t l = 0; l < question->n_levels; l++) {
        double mean = lb_plan_mean_at(plan, question->levels[l]);
        double rate = plan->has_fit && !plan->by_points
                          ? lb_usl_at(&plan->fit.best, (double)question->levels[l])
                          : mean;
        if (mean > 0 && rate > most) {
            most = rate;
            best = question->levels[l];
        }
    }
    return best;
}

void lb_plan_fit(struct lb_plan *plan)
{
    struct lb_usl_point *points = lb_calloc(plan->n_points + 1, sizeof *points);
    struct lb_error err;
    char text[200];
    size_t n = 0, n_levels = count_levels(plan);
    lb_usl_release(&plan->fit); /* of a fit before points were added */
    plan->fit = (struct lb_usl_fit){0};
    plan->has_fit = plan->by_points = plan->has_knee = plan->has_peak = false;
    plan->n_band = 0;
    plan->doubts[0] = plan->misfit[0] = '\0';
    for (size_t i = 0; i < plan->n_points; i++)
        if (plan->points[i].valid)
            points[n++] = (struct lb_usl_point){(double)plan->points[i].workers,
                                                plan->points[i].run->successes_per_s};
    if (n_levels < LB_USL_MIN_LEVELS) {
        snprintf(text, sizeof text, "%zu of %zu numbers of workers were measured, a fit needs %d",
                 n_levels, plan->question->n_levels, LB_USL_MIN_LEVELS);
        refuse(plan, text);
    } else if (lb_usl_fit(points, n, 0.95, LB_PLAN_SAMPLES, plan->question->seed, &plan->fit,
                          &err) != 0) {
        refuse(plan, err.message);
    } else {
        plan->has_fit = true;
        find_doubts(plan);
        draw_band(plan);
        plan->has_knee = lb_usl_predict_knee(&plan->fit, &plan->knee_n, &plan->knee_x, &err) == 0;
        plan->has_peak = lb_usl_predict_peak(&plan->fit, &plan->peak_n, &plan->peak_x, &err) == 0;
    }
    free(points);
    plan->at = plan->question->at > 0 ? plan->question->at : choose_at(plan);
}

bool lb_plan_capacity(const struct lb_plan *plan, struct lb_estimate *ret_rate)
{
    struct lb_error err;
    if (plan->slo_state == LB_SLO_FOUND || plan->slo_state == LB_SLO_AT_LEAST) {
        *ret_rate = plan->slo_rate;
        return true;
    }
    if (plan->slo_state != LB_SLO_NOT_ASKED || !plan->has_fit)
        return false;
    double demand = plan->question->demand_per_s;
    /* The law's peak must not promise what no point reached. */
    bool is_missed = demand > 0 && lb_plan_demand_by_points(plan) &&
                     !isfinite(lb_plan_points_need(plan, demand));
    if (plan->by_points || is_missed) {
        double n;
        bool is_last;
        return lb_plan_points_peak(plan, &n, ret_rate, &is_last);
    }
    if (plan->has_peak) {
        *ret_rate = plan->peak_x;
        return true;
    }
    return lb_usl_predict(&plan->fit, plan->fit.largest_n, ret_rate, &err) == 0;
}
