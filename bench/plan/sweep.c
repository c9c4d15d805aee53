/* The closed-loop sweep: see plan.h. */
#include "plan.h"

#include "clock.h"
#include "memory.h"
#include "steady.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int lb_plan_check(const struct lb_plan_question *question, struct lb_error *err)
{
    uint64_t largest = question->n_levels > 0 ? question->levels[question->n_levels - 1] : 0;
    if (question->n_levels < LB_USL_MIN_LEVELS && lb_plan_sweeps(question))
        return lb_fail(err, LB_E_USAGE,
                       "a plan needs at least %d different numbers of workers, not %zu: give more "
                       "to --workers",
                       LB_USL_MIN_LEVELS, question->n_levels);
    if ((double)question->at > LB_USL_MAX_REACH * (double)largest)
        return lb_fail(err, LB_E_USAGE,
                       "%llu workers are beyond twice the %llu that are to be measured: measure "
                       "more, with --workers",
                       (unsigned long long)question->at, (unsigned long long)largest);
    return 0;
}

void lb_plan_init(struct lb_plan *plan, const struct lb_plan_question *question,
                  const char *strategy, const char *engine, const struct lb_scenario *scenario)
{
    *plan = (struct lb_plan){.question = question,
                             .scenario = *scenario,
                             .slo_state = question->has_slo ? LB_SLO_UNKNOWN : LB_SLO_NOT_ASKED};
    snprintf(plan->strategy, sizeof plan->strategy, "%s", strategy);
    snprintf(plan->engine, sizeof plan->engine, "%s", engine);
    if (question->has_slo)
        snprintf(plan->slo_reason, sizeof plan->slo_reason, "interrupted before the search began");
    uint64_t most =
        question->most_repeat > question->n_repeat ? question->most_repeat : question->n_repeat;
    plan->points = lb_calloc((question->n_levels + LB_PLAN_ADDED) * most + 1, sizeof *plan->points);
    plan->trials = lb_calloc(LB_PLAN_TRIALS, sizeof *plan->trials);
}

void lb_plan_release(struct lb_plan *plan)
{
    free(plan->points);
    free(plan->trials);
    lb_usl_release(&plan->fit);
    plan->points = NULL;
    plan->trials = NULL;
    plan->n_points = plan->n_trials = 0;
    plan->has_fit = false;
}

/* Did throughput rise or fall by more than a tenth while it was measured? */
static bool drifts(const struct lb_outcome *run)
{
    struct lb_steadiness steadiness;
    lb_run_steadiness(run, &steadiness);
    return steadiness.verdict == LB_RUN_DRIFTING;
}

static void add_point(struct lb_plan *plan, uint64_t workers, uint64_t round,
                      const struct lb_outcome *run, uint64_t took_ns)
{
    struct lb_plan_point *point = &plan->points[plan->n_points++];
    *point = (struct lb_plan_point){
        .workers = workers, .round = round, .run = run, .took_ns = took_ns, .drifts = drifts(run)};
    point->valid = run->state == LB_RUN_COMPLETE && run->successes_per_s > 0;
    if (run->state != LB_RUN_COMPLETE)
        snprintf(point->reason, sizeof point->reason, "%s", run->reason);
    else if (!point->valid)
        snprintf(point->reason, sizeof point->reason, "nobody succeeded");
}

void lb_plan_give_threads(struct lb_scenario *scenario)
{
    uint64_t sessions = scenario->workers + scenario->producers;
    if (scenario->processes == 0 && (scenario->threads == 0 || scenario->threads > sessions))
        scenario->threads = sessions;
}

void lb_plan_point_scenario(const struct lb_plan *plan, uint64_t workers, struct lb_scenario *ret)
{
    *ret = plan->scenario;
    ret->workers = workers;
    ret->rate[0] = '\0';
    lb_plan_give_threads(ret);
    snprintf(ret->name, sizeof ret->name, "%.150s[workers=%llu]", plan->scenario.name,
             (unsigned long long)workers);
}

int lb_plan_measure(struct lb_plan *plan, uint64_t workers, uint64_t round,
                    const struct lb_lab *lab, struct lb_error *err)
{
    struct lb_scenario scenario;
    const struct lb_outcome *run = NULL;
    struct lb_error why;
    lb_plan_point_scenario(plan, workers, &scenario);
    uint64_t start_ns = lb_now_ns();
    int rc = lab->measure(lab->arg, plan, &scenario, &run, &why);
    if (rc == LB_E_INTERRUPTED || rc == LB_E_MEMORY) {
        *err = why;
        return rc;
    }
    if (rc != 0)
        snprintf(plan->refusal, sizeof plan->refusal, "with %llu worker%s: %.240s",
                 (unsigned long long)workers, workers == 1 ? "" : "s", why.message);
    else
        add_point(plan, workers, round, run, lb_now_ns() - start_ns);
    return 0;
}

int lb_plan_sweep(struct lb_plan *plans, size_t n, const struct lb_lab *lab, struct lb_error *err)
{
    const struct lb_plan_question *question = plans[0].question;
    size_t n_points = n * question->n_levels;
    size_t *order = lb_calloc(n_points + 1, sizeof *order);
    int rc = 0;
    for (uint64_t round = 0; round < question->n_repeat && rc == 0; round++) {
        struct lb_random random;
        lb_random_init(&random, question->seed, round);
        for (size_t i = 0; i < n_points; i++) { /* Fisher and Yates, inside out */
            size_t j = (size_t)lb_random_below(&random, i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        for (size_t i = 0; i < n_points && rc == 0; i++) {
            struct lb_plan *plan = &plans[order[i] / question->n_levels];
            if (plan->refusal[0] == '\0')
                rc = lb_plan_measure(plan, question->levels[order[i] % question->n_levels], round,
                                     lab, err);
        }
    }
    for (size_t i = 0; i < n && rc == LB_E_INTERRUPTED; i++)
        plans[i].interrupted = true;
    free(order);
    return rc;
}
