/* Plans as JSON: points, fit, band, search, answers. docs/result.schema.json describes it. A run is
 * named by the number of its cell and its number among that cell's runs, both from 0. */
#include "json_plan.h"

#include "json_object.h"
#include "plan_limits.h"

static void append(struct object *object, json_t *array, json_t *value)
{
    if (array == NULL || json_array_append_new(array, value) != 0)
        object->failed = true;
}

static json_t *text_or_null(const char *text)
{
    return text[0] != '\0' ? json_string(text) : json_null();
}

static void put_run(struct object *object, const struct lb_report *report,
                    const struct lb_outcome *run)
{
    size_t cell = 0, number_of_run = 0;
    if (!lb_plan_find_run(report, run, &cell, &number_of_run))
        object->failed = true;
    put_count(object, "cell", cell);
    put_count(object, "run", number_of_run);
}

static json_t *points_json(const struct lb_report *report, const struct lb_plan *plan)
{
    struct object all = {json_array(), false};
    for (size_t i = 0; i < plan->n_points; i++) {
        const struct lb_plan_point *point = &plan->points[i];
        struct object object = object_new();
        put_count(&object, "workers", point->workers);
        put(&object, "successes_per_s", json_real(point->run->successes_per_s));
        put(&object, "valid", json_boolean(point->valid));
        put(&object, "drifts", json_boolean(point->drifts));
        put(&object, "reason", text_or_null(point->reason));
        put_run(&object, report, point->run);
        append(&all, all.json, object_end(&object));
    }
    return object_end(&all);
}

static json_t *parameter(double value, const struct lb_confidence *interval)
{
    return estimate_json(&(struct lb_estimate){value, *interval});
}

static json_t *fit_json(const struct lb_plan *plan)
{
    const struct lb_usl_fit *fit = &plan->fit;
    struct object object = object_new();
    if (!plan->has_fit) {
        json_decref(object.json);
        return json_null();
    }
    put(&object, "lambda", parameter(fit->best.lambda, &fit->lambda));
    put(&object, "sigma", parameter(fit->best.sigma, &fit->sigma));
    put(&object, "kappa", parameter(fit->best.kappa, &fit->kappa));
    put_count(&object, "runs", fit->n_points);
    put_count(&object, "levels", fit->n_levels);
    put(&object, "largest_workers", json_real(fit->largest_n));
    put(&object, "r_squared", json_real(fit->r_squared));
    put(&object, "worst_residual_share", json_real(fit->worst_residual));
    put(&object, "doubts", text_or_null(plan->doubts));
    put(&object, "misfit", text_or_null(plan->misfit));
    return object_end(&object);
}

static json_t *band_json(const struct lb_plan *plan)
{
    struct object all = {json_array(), false};
    for (size_t i = 0; i < plan->n_band; i++) {
        struct object object = object_new();
        put(&object, "workers", json_real(plan->band[i].workers));
        put(&object, "successes_per_s", estimate_json(&plan->band[i].rate));
        append(&all, all.json, object_end(&object));
    }
    return object_end(&all);
}

static json_t *place_json(bool has, const struct lb_estimate *n, const struct lb_estimate *x)
{
    struct object object = object_new();
    if (!has) {
        json_decref(object.json);
        return json_null();
    }
    put(&object, "workers", estimate_json(n));
    put(&object, "successes_per_s", estimate_json(x));
    return object_end(&object);
}

static json_t *trace_json(const struct lb_report *report, const struct lb_plan *plan)
{
    struct object all = {json_array(), false};
    for (size_t i = 0; i < plan->n_trials; i++) {
        const struct lb_trial *trial = &plan->trials[i];
        struct object object = object_new();
        put_text(&object, "phase", lb_trial_phase_name(trial->phase));
        put(&object, "rate_per_s", json_real(trial->rate_per_s));
        put_count(&object, "latency_ns", trial->latency_ns);
        put(&object, "achieved_share", json_real(trial->achieved));
        put(&object, "error_share", json_real(trial->errors));
        put(&object, "backlog_growth_share", json_real(trial->backlog_growth));
        put(&object, "ok", json_boolean(trial->ok));
        put(&object, "valid", json_boolean(trial->valid));
        put(&object, "reason", text_or_null(trial->reason));
        put_run(&object, report, trial->run);
        append(&all, all.json, object_end(&object));
    }
    return object_end(&all);
}

static json_t *slo_json(const struct lb_report *report, const struct lb_plan *plan)
{
    const struct lb_slo *slo = &plan->question->slo;
    struct object object = object_new();
    bool known = plan->slo_state == LB_SLO_FOUND || plan->slo_state == LB_SLO_AT_LEAST;
    if (plan->slo_state == LB_SLO_NOT_ASKED) {
        json_decref(object.json);
        return json_null();
    }
    put_text(&object, "text", slo->text);
    put(&object, "quantile", json_real(slo->quantile));
    put_count(&object, "bound_ns", slo->bound_ns);
    put_count(&object, "workers", plan->at);
    put_text(&object, "arrivals", plan->question->even ? "even" : "poisson");
    put_text(&object, "state", lb_slo_state_name(plan->slo_state));
    put(&object, "reason", text_or_null(plan->slo_reason));
    put(&object, "rate_per_s", known ? estimate_json(&plan->slo_rate) : json_null());
    put(&object, "trace", trace_json(report, plan));
    return object_end(&object);
}

static json_t *answers_json(const struct lb_plan *plan)
{
    struct object all = {json_array(), false};
    for (size_t i = 0; i < plan->n_answers; i++) {
        const struct lb_plan_answer *answer = &plan->answers[i];
        struct object object = object_new();
        put_text(&object, "question", answer->question);
        put_text(&object, "verdict", lb_plan_verdict_name(answer->verdict));
        put(&object, "doubtful", json_boolean(answer->doubtful));
        put_text(&object, "text", answer->text);
        put(&object, "estimate",
            answer->has_estimate ? estimate_json(&answer->estimate) : json_null());
        append(&all, all.json, object_end(&object));
    }
    return object_end(&all);
}

static json_t *limits_json(const struct lb_report *report, const struct lb_plan *plan)
{
    struct lb_plan_limit limits[LB_PLAN_LIMITS];
    size_t n = lb_plan_limits(report, plan, limits);
    struct object all = {json_array(), false};
    for (size_t i = 0; i < n; i++) {
        struct object object = object_new();
        put_text(&object, "cause", limits[i].cause);
        put(&object, "share", json_real(limits[i].share));
        put_text(&object, "text", limits[i].text);
        append(&all, all.json, object_end(&object));
    }
    return object_end(&all);
}

static json_t *plan_json(const struct lb_report *report, const struct lb_plan *plan)
{
    struct object object = object_new();
    put_text(&object, "strategy", plan->strategy);
    put_text(&object, "engine", plan->engine);
    put_text(&object, "scenario", plan->scenario.name);
    put_text(&object, "verdict", lb_plan_verdict_name(lb_plan_verdict(plan)));
    put(&object, "interrupted", json_boolean(plan->interrupted));
    put(&object, "demand_per_s",
        plan->question->demand_per_s > 0 ? json_real(plan->question->demand_per_s) : json_null());
    put_count(&object, "at_workers", plan->at);
    put(&object, "points", points_json(report, plan));
    put(&object, "fit", fit_json(plan));
    put(&object, "refusal", text_or_null(plan->refusal));
    put(&object, "band", band_json(plan));
    put(&object, "knee", place_json(plan->has_knee, &plan->knee_n, &plan->knee_x));
    put(&object, "peak", place_json(plan->has_peak, &plan->peak_n, &plan->peak_x));
    put(&object, "slo", slo_json(report, plan));
    put(&object, "answers", answers_json(plan));
    put(&object, "limits", limits_json(report, plan));
    return object_end(&object);
}

json_t *lb_json_plans(const struct lb_report *report)
{
    struct object all = {json_array(), false};
    for (size_t i = 0; i < report->n_plans; i++)
        append(&all, all.json, plan_json(report, &report->plans[i]));
    return object_end(&all);
}

json_t *lb_json_choice(const struct lb_report *report)
{
    struct lb_plan_choice rows[LB_PLAN_CHOICES];
    size_t n = lb_plan_choices(report, rows);
    struct object all = {json_array(), false};
    for (size_t i = 0; i < n; i++) {
        struct object object = object_new();
        put(&object, "up_to_per_s", json_real(rows[i].up_to_per_s));
        put_text(&object, "strategy", rows[i].plan->strategy);
        put_text(&object, "engine", rows[i].plan->engine);
        put(&object, "workers", json_real(rows[i].workers));
        put(&object, "clear", json_boolean(rows[i].clear));
        append(&all, all.json, object_end(&object));
    }
    return object_end(&all);
}
