/* Phases and the course of a run as JSON: see json.h. */
#include "json.h"

#include "json_object.h"
#include "run_course.h"

/* The phases of the scenario; a phase that did not come is left out. */
json_t *lb_phases_json(const struct lb_outcome *run)
{
    json_t *phases = json_array();
    for (uint32_t i = 0; i < run->config.n_stages; i++) {
        const struct lb_stage_figures *figures = &run->stages[i];
        struct lb_object object = lb_object_new();
        if (figures->length_ns == 0)
            continue;
        lb_put_text(&object, "name", run->config.stages[i].name);
        lb_put_count(&object, "start_ns", figures->start_ns);
        lb_put_count(&object, "length_ns", figures->length_ns);
        lb_put_count(&object, "successes", figures->n_successes);
        lb_put_count(&object, "due", figures->n_due);
        lb_put_count(&object, "p50_ns", figures->p50_ns > 0 ? figures->p50_ns : UINT64_MAX);
        lb_put_count(&object, "p99_ns", figures->p99_ns > 0 ? figures->p99_ns : UINT64_MAX);
        json_array_append_new(phases, lb_object_end(&object));
    }
    return phases;
}

/* What became of the rate over minutes or hours; null: the run is too short. */
json_t *lb_course_json(const struct lb_outcome *run)
{
    struct lb_course course;
    double dead_rows;
    if (!lb_run_course(run, &course, &dead_rows))
        return json_null();
    struct lb_object object = lb_object_new();
    char text[400];
    bool collapsed = course.verdict == LB_COURSE_COLLAPSED;
    lb_put_text(&object, "verdict", lb_course_name(course.verdict));
    lb_put_text(&object, "text", lb_run_course_text(run, &course, dead_rows, text, sizeof text));
    lb_put(&object, "drift_per_hour", collapsed ? json_null() : lb_estimate_json(&course.per_hour));
    lb_put(&object, "collapsed_s", collapsed ? lb_estimate_json(&course.collapsed) : json_null());
    lb_put_real(&object, "dead_rows", dead_rows);
    lb_put(&object, "recovered_s",
           course.has_recovered ? lb_estimate_json(&course.recovered) : json_null());
    return lb_object_end(&object);
}
