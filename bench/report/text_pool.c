/* A pool: how long workers waited for one of the sessions that they share. It is a part of every
 * latency of theirs.
 */
#include "table.h"
#include "text.h"
#include "units.h"

#include <stdio.h>

static void print_cell(const struct lb_sink_state *state, const struct lb_cell *cell)
{
    char text[400], p50[32], p99[32], worst[32];
    struct lb_histogram *waits = lb_histogram_new();
    if (waits == NULL)
        return;
    for (size_t i = 0; i < cell->n_runs; i++)
        lb_histogram_add(waits, cell->runs[i]->service[LB_M_POOL]);
    const struct lb_scenario *scenario = &cell->scenario;
    unsigned long long workers = scenario->workers;
    workers += scenario->producers;
    snprintf(text, sizeof text,
             "pool: %s on %s, %s: %llu session%s for %llu workers; waited for one: p50 %s, p99 %s, "
             "at most %s (%llu times taken).",
             cell->name, cell->engine, scenario->name, (unsigned long long)scenario->pool,
             scenario->pool == 1 ? "" : "s", workers,
             lb_format_ns(lb_histogram_quantile(waits, 0.5), p50, sizeof p50),
             lb_format_ns(lb_histogram_quantile(waits, 0.99), p99, sizeof p99),
             lb_format_ns(waits->max, worst, sizeof worst), (unsigned long long)waits->count);
    lb_print_wrapped(state->out, text, 0, state->width);
    lb_histogram_free(waits);
}

void lb_text_pool(const struct lb_sink_state *state)
{
    bool is_first = true;
    for (size_t i = 0; i < state->report->n_cells; i++) {
        const struct lb_cell *cell = &state->report->cells[i];
        if (cell->n_runs == 0 || cell->scenario.pool == 0)
            continue;
        if (is_first)
            fputc('\n', state->out);
        is_first = false;
        print_cell(state, cell);
    }
}
