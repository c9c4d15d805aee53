/* Plans as JSON: points, fit, band, search, answers. docs/result.schema.json describes it. A run is
 * named by the number of its cell and its number among that cell's runs, both from 0. */
#include "json.h"

#include "json_object.h"
#include "plan_limits.h"

static void put_run(struct lb_object *object, const struct lb_report *report,
                    const struct lb_outcome *run)
{
    size_t cell = 0, number_of_run = 0;
    if (!lb_plan_find_run(report, run, &cell, &number_of_run))
        object->failed = true;
    lb_put_count(object, "cell", cell);
    lb_put_count(object, "run", number_of_run);
}

static json_t *points_json(const struct lb_report *report, const struct lb_plan *plan)
{
    struct lb_object all = lb_list_new();
    for (size_t i = 0; i < plan->n_points; i++) {
        const struct lb_plan_point *point = &plan->points[i];
        struct lb_object object = lb_object_new();
        lb_put_count(&object, "workers", point->workers);
        lb_put_real(&object, "successes_per_s", point->run->successes_per_s);
        lb_put_flag(&object, "valid", point->valid);
        lb_put_flag(&object, "drifts", point->drifts);
        lb_put_text_or_null(&object, "reason", point->reason);
        put_run(&object, report, point->run);
        lb_add(&all, lb_object_end(&object));
    }
    return lb_object_end(&all);
}

static json_t *parameter(double value, const struct lb_confidence *interval)
{
    return lb_estimate_json(&(struct lb_estimate){value, *interval});
}

static json_t *fit_json(const struct lb_plan *plan)
{
    const struct lb_usl_fit *fit = &plan->fit;
    if (!plan->has_fit)
        return json_null();
    struct lb_object object = lb_object_new();
    lb_put(&object, "lambda", parameter(fit->best.lambda, &fit->lambda));
    lb_put(&object, "sigma", parameter(fit->best.sigma, &fit->sigma));
    lb_put(&object, "kappa", parameter(fit->best.kappa, &fit->kappa));
    lb_put_count(&object, "runs", fit->n_points);
    lb_put_count(&object, "levels", fit->n_levels);
    lb_put_real(&object, "largest_workers", fit->largest_n);
    lb_put_real(&object, "r_squared", fit->r_squared);
    lb_put_real(&object, "worst_residual_share", fit->worst_residual);
    lb_put_text_or_null(&object, "doubts", plan->doubts);
    lb_put_text_or_null(&object, "misfit", plan->misfit);
    return lb_object_end(&object);
}

static json_t *band_json(const struct lb_plan *plan)
{
    struct lb_object all = lb_list_new();
    for (size_t i = 0; i < plan->n_band; i++) {
        struct lb_object object = lb_object_new();
        lb_put_real(&object, "workers", plan->band[i].workers);
        lb_put(&object, "successes_per_s", lb_estimate_json(&plan->band[i].rate));
        lb_add(&all, lb_object_end(&object));
    }
    return lb_object_end(&all);
}

static json_t *place_json(bool has, const struct lb_estimate *n, const struct lb_estimate *x)
{
    if (!has)
        return json_null();
    struct lb_object object = lb_object_new();
    lb_put(&object, "workers", lb_estimate_json(n));
    lb_put(&object, "successes_per_s", lb_estimate_json(x));
    return lb_object_end(&object);
}

static json_t *trace_json(const struct lb_report *report, const struct lb_plan *plan)
{
    struct lb_object all = lb_list_new();
    for (size_t i = 0; i < plan->n_trials; i++) {
        const struct lb_trial *trial = &plan->trials[i];
        struct lb_object object = lb_object_new();
        lb_put_text(&object, "phase", lb_trial_phase_name(trial->phase));
        lb_put_real(&object, "rate_per_s", trial->rate_per_s);
        lb_put_count(&object, "latency_ns", trial->latency_ns);
        lb_put_real(&object, "achieved_share", trial->achieved);
        lb_put_real(&object, "error_share", trial->errors);
        lb_put_real(&object, "backlog_growth_share", trial->backlog_growth);
        lb_put_flag(&object, "ok", trial->ok);
        lb_put_flag(&object, "valid", trial->valid);
        lb_put_text_or_null(&object, "reason", trial->reason);
        put_run(&object, report, trial->run);
        lb_add(&all, lb_object_end(&object));
    }
    return lb_object_end(&all);
}

static json_t *slo_json(const struct lb_report *report, const struct lb_plan *plan)
{
    const struct lb_slo *slo = &plan->question->slo;
    bool known = plan->slo_state == LB_SLO_FOUND || plan->slo_state == LB_SLO_AT_LEAST;
    if (!plan->question->has_slo)
        return json_null();
    struct lb_object object = lb_object_new();
    lb_put_text(&object, "text", slo->text);
    lb_put_real(&object, "quantile", slo->quantile);
    lb_put_count(&object, "bound_ns", slo->bound_ns);
    lb_put_count(&object, "workers", plan->at);
    lb_put_text(&object, "arrivals", plan->question->even ? "even" : "poisson");
    lb_put_text(&object, "state", lb_slo_state_name(plan->slo_state));
    lb_put_text_or_null(&object, "reason", plan->slo_reason);
    lb_put(&object, "rate_per_s", known ? lb_estimate_json(&plan->slo_rate) : json_null());
    lb_put(&object, "trace", trace_json(report, plan));
    return lb_object_end(&object);
}

static json_t *answers_json(const struct lb_plan *plan)
{
    struct lb_object all = lb_list_new();
    for (size_t i = 0; i < plan->n_answers; i++) {
        const struct lb_plan_answer *answer = &plan->answers[i];
        struct lb_object object = lb_object_new();
        lb_put_text(&object, "question", answer->question);
        lb_put_text(&object, "verdict", lb_plan_verdict_name(answer->verdict));
        lb_put_flag(&object, "doubtful", answer->doubtful);
        lb_put_text(&object, "text", answer->text);
        lb_put(&object, "estimate",
               answer->has_estimate ? lb_estimate_json(&answer->estimate) : json_null());
        lb_add(&all, lb_object_end(&object));
    }
    return lb_object_end(&all);
}

static json_t *limits_json(const struct lb_report *report, const struct lb_plan *plan)
{
    struct lb_plan_limit limits[LB_PLAN_LIMITS];
    size_t n = lb_plan_limits(report, plan, limits);
    struct lb_object all = lb_list_new();
    for (size_t i = 0; i < n; i++) {
        struct lb_object object = lb_object_new();
        lb_put_text(&object, "cause", limits[i].cause);
        lb_put_real(&object, "share", limits[i].share);
        lb_put_text(&object, "text", limits[i].text);
        lb_add(&all, lb_object_end(&object));
    }
    return lb_object_end(&all);
}

static json_t *plan_json(const struct lb_report *report, const struct lb_plan *plan)
{
    struct lb_object object = lb_object_new();
    lb_put_text(&object, "strategy", plan->strategy);
    lb_put_text(&object, "engine", plan->engine);
    lb_put_text(&object, "scenario", plan->scenario.name);
    lb_put_text(&object, "verdict", lb_plan_verdict_name(lb_plan_verdict(plan)));
    lb_put_flag(&object, "interrupted", plan->interrupted);
    lb_put(&object, "demand_per_s",
           plan->question->demand_per_s > 0 ? json_real(plan->question->demand_per_s)
                                            : json_null());
    lb_put_count(&object, "at_workers", plan->at);
    lb_put(&object, "points", points_json(report, plan));
    lb_put(&object, "fit", fit_json(plan));
    lb_put_text_or_null(&object, "refusal", plan->refusal);
    lb_put(&object, "band", band_json(plan));
    lb_put(&object, "knee", place_json(plan->has_knee, &plan->knee_n, &plan->knee_x));
    lb_put(&object, "peak", place_json(plan->has_peak, &plan->peak_n, &plan->peak_x));
    lb_put(&object, "slo", slo_json(report, plan));
    lb_put(&object, "answers", answers_json(plan));
    lb_put(&object, "limits", limits_json(report, plan));
    return lb_object_end(&object);
}

json_t *lb_json_plans(const struct lb_report *report)
{
    struct lb_object all = lb_list_new();
    for (size_t i = 0; i < report->n_plans; i++)
        lb_add(&all, plan_json(report, &report->plans[i]));
    return lb_object_end(&all);
}

json_t *lb_json_choice(const struct lb_report *report)
{
    struct lb_plan_choice rows[LB_PLAN_CHOICES];
    size_t n = lb_plan_choices(report, rows);
    struct lb_object all = lb_list_new();
    for (size_t i = 0; i < n; i++) {
        struct lb_object object = lb_object_new();
        lb_put_real(&object, "up_to_per_s", rows[i].up_to_per_s);
        lb_put_text(&object, "strategy", rows[i].plan->strategy);
        lb_put_text(&object, "engine", rows[i].plan->engine);
        lb_put_real(&object, "workers", rows[i].workers);
        lb_put_flag(&object, "clear", rows[i].clear);
        lb_add(&all, lb_object_end(&object));
    }
    return lb_object_end(&all);
}
