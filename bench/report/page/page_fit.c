/* Sweeps over workers in a stored comparison, and the scalability law fitted to each that has
 * enough levels (bench/stats/usl.h): the curve over the range that was measured, and its band.
 */
#include "json_object.h"
#include "memory.h"
#include "page.h"
#include "usl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CURVE_POINTS = 40, SAMPLES = 400 };

/* Is this cell of the same sweep: all alike but the workers? */
static bool is_same_sweep(const json_t *a, const json_t *b)
{
    if (strcmp(lb_stored_text(a, "strategy"), lb_stored_text(b, "strategy")) != 0 ||
        strcmp(lb_stored_text(a, "engine"), lb_stored_text(b, "engine")) != 0 ||
        !json_equal(json_object_get(a, "options"), json_object_get(b, "options")))
        return false;
    json_t *x = json_copy(json_object_get(a, "config"));
    json_t *y = json_copy(json_object_get(b, "config"));
    json_object_del(x, "workers");
    json_object_del(y, "workers");
    bool same = x != NULL && json_equal(x, y);
    json_decref(x);
    json_decref(y);
    return same;
}

static json_t *estimate_json(double value, struct lb_confidence interval)
{
    return json_pack("{s:o, s:o, s:o}", "value", lb_json_real(value), "low",
                     lb_json_real(interval.low), "high", lb_json_real(interval.high));
}

static json_t *curve_json(const struct lb_usl_fit *fit)
{
    json_t *array = json_array();
    for (int i = 0; i < CURVE_POINTS; i++) {
        double n = 1 + (fit->largest_n - 1) * i / (CURVE_POINTS - 1);
        struct lb_estimate at;
        struct lb_error err;
        if (lb_usl_predict(fit, n, &at, &err) == 0)
            json_array_append_new(
                array, json_pack("[o, o, o, o]", lb_json_real(n), lb_json_real(at.value),
                                 lb_json_real(at.interval.low), lb_json_real(at.interval.high)));
    }
    return array;
}

static json_t *fit_json(const struct lb_usl_fit *fit)
{
    struct lb_estimate n, x;
    struct lb_error err;
    json_t *json = json_pack("{s:o, s:o, s:o, s:f, s:f, s:f, s:o}", "lambda",
                             estimate_json(fit->best.lambda, fit->lambda), "sigma",
                             estimate_json(fit->best.sigma, fit->sigma), "kappa",
                             estimate_json(fit->best.kappa, fit->kappa), "r_squared",
                             fit->r_squared, "worst_residual", fit->worst_residual, "coverage",
                             fit->level, "curve", curve_json(fit));
    if (json != NULL && lb_usl_predict_peak(fit, &n, &x, &err) == 0) {
        json_object_set_new(json, "peak_workers", estimate_json(n.value, n.interval));
        json_object_set_new(json, "peak_per_s", estimate_json(x.value, x.interval));
    }
    return json;
}

/* The runs of one sweep, which begins with cell first. */
static json_t *sweep_json(json_t *cells, size_t first, bool *taken, struct lb_usl_point *points)
{
    const json_t *head = json_array_get(cells, first);
    json_t *members = json_array();
    size_t n = 0, r;
    for (size_t i = first; i < json_array_size(cells); i++) {
        json_t *cell = json_array_get(cells, i), *run;
        if (taken[i] || (i != first && !is_same_sweep(head, cell)))
            continue;
        taken[i] = true;
        json_array_append_new(members, json_integer((json_int_t)i));
        double workers =
            json_number_value(json_object_get(json_object_get(cell, "config"), "workers"));
        json_array_foreach(json_object_get(cell, "runs"), r, run)
        {
            double rate = json_number_value(json_object_get(run, "successes_per_s"));
            if (strcmp(lb_stored_text(run, "state"), "complete") != 0 || !(rate > 0) || workers < 1)
                continue;
            points[n].n = workers;
            points[n].x = rate;
            n++;
        }
    }
    if (json_array_size(members) < 2) {
        json_decref(members);
        return NULL;
    }
    json_t *sweep = json_pack("{s:o}", "cells", members);
    struct lb_usl_fit fit;
    struct lb_error why;
    if (lb_usl_fit(points, n, 0.95, SAMPLES, 1, &fit, &why) == 0) {
        json_object_set_new(sweep, "fit", fit_json(&fit));
        lb_usl_release(&fit);
    } else {
        json_object_set_new(sweep, "no_fit", json_string(why.message));
    }
    return sweep;
}

void lb_page_fits(json_t *run)
{
    json_t *cells = json_object_get(run, "cells"), *cell;
    size_t n_runs = 0, i;
    json_array_foreach(cells, i, cell)
    {
        n_runs += json_array_size(json_object_get(cell, "runs"));
    }
    bool *taken = lb_calloc(json_array_size(cells) + 1, sizeof *taken);
    struct lb_usl_point *points = lb_calloc(n_runs + 1, sizeof *points);
    json_t *sweeps = json_array();
    for (i = 0; i < json_array_size(cells); i++) {
        json_t *sweep = taken[i] ? NULL : sweep_json(cells, i, taken, points);
        if (sweep != NULL)
            json_array_append_new(sweeps, sweep);
    }
    json_object_set_new(run, "sweeps", sweeps);
    free(taken);
    free(points);
}
