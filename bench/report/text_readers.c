/* Readers: what it cost those who only looked. */
#include "table.h"
#include "text.h"
#include "units.h"

#include <stdio.h>

static void print_cell(const struct lb_sink_state *state, const struct lb_cell *cell)
{
    char text[400], p50[32], p99[32], worst[32];
    struct lb_histogram *reads = lb_histogram_new();
    if (reads == NULL)
        return;
    for (size_t i = 0; i < cell->n_runs; i++)
        lb_histogram_add(reads, cell->runs[i]->service[LB_M_READ]);
    unsigned long long readers = cell->scenario.readers;
    snprintf(text, sizeof text,
             "readers: %s on %s, %s: %llu session%s counted the items beside the workers: p50 %s, "
             "p99 %s, at most %s (%llu reads).",
             cell->name, cell->engine, cell->scenario.name, readers, readers == 1 ? "" : "s",
             lb_format_ns(lb_histogram_quantile(reads, 0.5), p50, sizeof p50),
             lb_format_ns(lb_histogram_quantile(reads, 0.99), p99, sizeof p99),
             lb_format_ns(reads->max, worst, sizeof worst), (unsigned long long)reads->count);
    lb_print_wrapped(state->out, text, 0, state->width);
    lb_histogram_free(reads);
}

void lb_text_readers(const struct lb_sink_state *state)
{
    bool is_first = true;
    for (size_t i = 0; i < state->report->n_cells; i++) {
        const struct lb_cell *cell = &state->report->cells[i];
        if (cell->n_runs == 0 || cell->scenario.readers == 0)
            continue;
        if (is_first)
            fputc('\n', state->out);
        is_first = false;
        print_cell(state, cell);
    }
}
