/* The measurements of age, as JSON. */
#include "cmd_age_text.h"

#include "json_object.h"

static json_t *curve_json(const struct lb_age *age, size_t n_points,
                          const struct lb_age_curve *curve)
{
    struct lb_object object = lb_object_new(), points = lb_list_new();
    const struct lb_growth *growth = &curve->growth;
    for (size_t i = 0; i < n_points && curve->refused[0] == '\0'; i++) {
        struct lb_object point = lb_object_new();
        lb_put_count(&point, "items", age->sizes[i]);
        lb_put_real(&point, "cost", curve->points[i].cost);
        if (age->counts_scans) {
            lb_put_real(&point, "rows_of_full_scans", curve->points[i].scanned);
            lb_put_real(&point, "sorts", curve->points[i].sorts);
        }
        if (curve->points[i].margin > 0)
            lb_put_real(&point, "other_plan_estimate", curve->points[i].margin);
        if (curve->points[i].locked >= 0)
            lb_put_real(&point, "locked_rows", curve->points[i].locked);
        lb_put_text(&point, "plan", curve->points[i].plan);
        lb_add(&points, lb_object_end(&point));
    }
    lb_put(&object, "points", lb_object_end(&points));
    lb_put_text_or_null(&object, "not_measured", curve->refused);
    if (curve->refused[0] == '\0' && n_points > 1) {
        lb_put_text(&object, "grows", lb_growth_name(growth->law));
        lb_put_real(&object, "exponent", growth->p);
        lb_put_real(&object, "exponent_least", growth->p_least);
        lb_put_real(&object, "exponent_most", growth->p_most);
        lb_put_real(&object, "per_1000", growth->per_1000);
        if (curve->flips_at > 0) {
            lb_put_real(&object, "plan_may_change_at", curve->flips_at);
            lb_put_text(&object, "plan_may_become", curve->points[n_points - 1].other);
        }
        lb_put_real(&object, "at_1000000", lb_growth_at(growth, 1e6));
    }
    return lb_object_end(&object);
}

static json_t *state_json(const struct lb_age_view *view, enum lb_aged_state which)
{
    const struct lb_age_state *state = &view->age->states[which];
    struct lb_object object = lb_object_new(), operations = lb_object_new();
    double rows = lb_age_slo_rows(view, which);
    lb_put_text_or_null(&object, "not_measured", state->refused);
    if (which == LB_AGED_DEAD)
        lb_put_text_or_null(&object, "unit",
                            view->age->dead_unit != NULL ? view->age->dead_unit : "");
    for (int op = 0; op < LB_AGE_OPS && state->refused[0] == '\0'; op++)
        if (state->curves[op].is_there)
            lb_put(&operations, lb_age_op_names[op],
                   curve_json(view->age, state->n_points, &state->curves[op]));
    lb_put(&object, "operations", lb_object_end(&operations));
    lb_put_flag(&object, "interrupted", lb_age_is_cut(view->age, state));
    lb_put_flag(&object, "leaves_no_rows", state->leaves_no_rows);
    lb_put_text_or_null(&object, "missing_index", state->index);
    if (state->index[0] != '\0') {
        lb_put_text(&object, "missing_for", lb_age_op_names[state->index_op]);
        lb_put_real(&object, "cost_with_index", state->index_cost);
    }
    if (view->bound_ns > 0)
        lb_put(&object, "slo_missed_from_items", rows > 0 ? lb_json_real(rows) : json_null());
    if (view->bound_ns > 0 && view->demand_per_s > 0 && which == LB_AGED_FINISHED)
        lb_put(&object, "slo_missed_after_days",
               rows > 0 ? lb_json_real(rows / (view->demand_per_s * 86400)) : json_null());
    return lb_object_end(&object);
}

void lb_age_json(FILE *out, const struct lb_age_view *view)
{
    struct lb_object object = lb_object_new(), states = lb_object_new();
    struct lb_error err;
    lb_put_text(&object, "strategy", view->strategy);
    lb_put_text(&object, "target", view->target);
    lb_put_text(&object, "unit", view->age->unit);
    lb_put_text(&object, "statistics", lb_aged_statistics_names[view->statistics]);
    lb_put_text_or_null(&object, "slo", view->slo);
    lb_put_flag(&object, "grows", lb_age_grows(view->age));
    for (int s = 0; s < LB_AGED_STATES; s++)
        if (view->age->states[s].is_asked)
            lb_put(&states, lb_aged_state_names[s], state_json(view, (enum lb_aged_state)s));
    lb_put(&object, "aged", lb_object_end(&states));
    lb_json_print(lb_object_end(&object), JSON_INDENT(2), "what was measured", out, &err);
}
