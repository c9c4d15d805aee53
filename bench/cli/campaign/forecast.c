/* How long the runs that are still to come take: see forecast.h. */
#include "forecast.h"

void lb_forecast_init(struct lb_forecast *forecast, const struct lb_report *report, uint64_t now_ns)
{
    *forecast = (struct lb_forecast){.report = report, .last_ns = now_ns};
}

bool lb_forecast_length(const struct lb_cell *cell, uint64_t *ret_ns)
{
    const struct lb_scenario *scenario = &cell->scenario;
    bool is_known =
        !cell->is_explored && !scenario->drain && scenario->count == 0 && scenario->duration_ns > 0;
    *ret_ns = cell->is_explored ? 0 : scenario->warmup_ns + (is_known ? scenario->duration_ns : 0);
    return is_known;
}

void lb_forecast_learn(struct lb_forecast *forecast, const struct lb_cell *cell, uint64_t now_ns)
{
    uint64_t took_ns = now_ns - forecast->last_ns;
    forecast->last_ns = now_ns;
    if (cell->is_explored) {
        forecast->explored_ns += took_ns;
        forecast->n_explored++;
    } else if (cell->n_runs > 0) {
        uint64_t length_ns = cell->scenario.warmup_ns + cell->runs[cell->n_runs - 1]->elapsed_ns;
        forecast->besides_ns += took_ns > length_ns ? took_ns - length_ns : 0;
        forecast->n_runs++;
    }
}

/* The sum of the measured parts of a cell's runs. */
static uint64_t measured_ns(const struct lb_cell *cell)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < cell->n_runs; i++)
        sum_ns += cell->runs[i]->elapsed_ns;
    return sum_ns;
}

/* One run of the cell. A cell that ends by itself and has not run yet takes as long as others of
 * its kind did. */
static bool find_length(const struct lb_forecast *forecast, const struct lb_cell *cell,
                        uint64_t *ret_ns)
{
    const struct lb_report *report = forecast->report;
    bool is_known = lb_forecast_length(cell, ret_ns);
    if (cell->is_explored) {
        bool has_mean = forecast->n_explored > 0;
        *ret_ns = has_mean ? forecast->explored_ns / forecast->n_explored : cell->explored.time_ns;
        return *ret_ns > 0;
    }
    if (forecast->n_runs > 0)
        *ret_ns += forecast->besides_ns / forecast->n_runs;
    if (is_known)
        return true;
    uint64_t sum_ns = measured_ns(cell), ignored;
    size_t n = cell->n_runs;
    for (size_t i = 0; i < report->n_cells && cell->n_runs == 0; i++) {
        const struct lb_cell *other = &report->cells[i];
        if (!other->is_explored && !lb_forecast_length(other, &ignored)) {
            sum_ns += measured_ns(other);
            n += other->n_runs;
        }
    }
    *ret_ns += n > 0 ? sum_ns / n : 0;
    return n > 0;
}

uint64_t lb_forecast_left(const struct lb_forecast *forecast, uint64_t now_ns)
{
    const struct lb_report *report = forecast->report;
    uint64_t sum_ns = 0, each_ns;
    for (size_t i = 0; report != NULL && i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if ((cell->state != LB_CELL_PENDING && cell->state != LB_CELL_DONE) ||
            cell->n_runs >= report->n_repeat)
            continue;
        if (!find_length(forecast, cell, &each_ns))
            return 0;
        sum_ns += each_ns * (report->n_repeat - cell->n_runs);
    }
    /* The run under way has used a part of this time. */
    uint64_t since_ns = now_ns - forecast->last_ns;
    return sum_ns > since_ns ? sum_ns - since_ns : 0;
}
