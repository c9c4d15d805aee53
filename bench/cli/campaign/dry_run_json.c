/* --dry-run as JSON, for a script that decides by the planned runs. */
#include "dry_run.h"

#include "forecast.h"
#include "json_object.h"

static json_t *count_or_null(uint64_t count)
{
    return count > 0 ? lb_json_count(count) : json_null();
}

/* How a run ends; null: not by that. */
static void put_end(struct lb_object *object, const struct lb_cell *cell)
{
    const struct lb_scenario *s = &cell->scenario;
    uint64_t length_ns, explored_ns = cell->is_explored ? cell->explored.time_ns : 0;
    bool is_timed = lb_forecast_length(cell, &length_ns), is_run = !cell->is_explored;
    lb_put(object, "duration_ns", is_timed ? lb_json_count(s->duration_ns) : json_null());
    lb_put(object, "warmup_ns", is_run ? lb_json_count(s->warmup_ns) : json_null());
    lb_put(object, "count", is_run && !s->drain ? count_or_null(s->count) : json_null());
    lb_put(object, "items", is_run && s->drain ? lb_json_count(s->backlog) : json_null());
    lb_put(object, "explored_ns", count_or_null(explored_ns));
}

static json_t *cell_json(const struct lb_report *report, const struct lb_cell *cell)
{
    struct lb_object object = lb_object_new(), options = lb_object_new();
    bool is_skipped = cell->state == LB_CELL_SKIPPED;
    for (size_t i = 0; i < cell->n_settings; i++)
        lb_put_text(&options, cell->settings[i].name, cell->settings[i].value);
    lb_put_text(&object, "strategy", cell->name);
    lb_put_text(&object, "engine", cell->engine);
    lb_put_text_or_null(&object, "target", cell->target != NULL ? cell->target->label : NULL);
    lb_put_text(&object, "scenario", cell->scenario.name);
    lb_put(&object, "options", lb_object_end(&options));
    lb_put_flag(&object, "explored", cell->is_explored);
    lb_put(&object, "workers",
           cell->is_explored ? json_null() : lb_json_count(cell->scenario.workers));
    lb_put_count(&object, "runs", is_skipped ? 0 : report->n_repeat);
    put_end(&object, cell);
    lb_put_text_or_null(&object, "skipped", is_skipped ? cell->reason : NULL);
    return lb_object_end(&object);
}

int lb_dry_run_json(const struct lb_report *report, uint64_t budget_ns, bool grows, bool is_line,
                    FILE *out, struct lb_error *err)
{
    struct lb_object object = lb_object_new(), cells = lb_list_new();
    uint64_t n_cells = 0;
    for (size_t i = 0; i < report->n_cells; i++) {
        lb_add(&cells, cell_json(report, &report->cells[i]));
        n_cells += report->cells[i].state != LB_CELL_SKIPPED;
    }
    lb_put_flag(&object, "dry_run", true);
    lb_put_text(&object, "lockbench", LB_VERSION);
    lb_put_text(&object, "command", report->command);
    lb_put(&object, "budget_ns", count_or_null(budget_ns));
    lb_put_count(&object, "repeat", report->n_repeat);
    lb_put_count(&object, "n_cells", n_cells);
    lb_put_count(&object, "n_runs", n_cells * report->n_repeat);
    lb_put_flag(&object, "runs_are_least", budget_ns > 0 || grows);
    lb_put_count(&object, "total_ns", budget_ns > 0 ? budget_ns : lb_dry_run_ns(report));
    lb_put_flag(&object, "total_is_least", budget_ns == 0 && (grows || lb_dry_run_is_open(report)));
    lb_put(&object, "cells", lb_object_end(&cells));
    return lb_json_print(lb_object_end(&object), is_line ? JSON_COMPACT : JSON_INDENT(2),
                         "the planned runs", out, err);
}
