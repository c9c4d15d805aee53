/* A line for each rank of a run of several: its host, its work, and the uncertainty of its clock.
 * The last of several runs of a cell.
 */
#include "text.h"
#include "units.h"

#include <stdio.h>

static void print_rank(const struct lb_sink_state *state, const struct lb_rank_row *row,
                       uint32_t rank)
{
    char cpu[32], within[32], ahead[32], clock[160] = "its clock counts";
    uint64_t away_ns = (uint64_t)(row->offset_ns < 0 ? -row->offset_ns : row->offset_ns);
    if (rank > 0)
        snprintf(clock, sizeof clock, "clock %s %s, known to within %s by %llu exchanges",
                 lb_format_ns(away_ns, ahead, sizeof ahead),
                 row->offset_ns < 0 ? "behind" : "ahead",
                 lb_format_ns(row->uncertainty_ns, within, sizeof within),
                 (unsigned long long)row->n_exchanges);
    if (row->is_lost)
        snprintf(clock, sizeof clock, "lost");
    double each = row->n_successes > 0 ? (double)row->cpu_ns / (double)row->n_successes : 0;
    lb_text_say(state, 0, "rank %u on %.63s: %u workers, %llu successes, %s of CPU each; %s.", rank,
                row->host, row->n_workers, (unsigned long long)row->n_successes,
                lb_format_ns((uint64_t)each, cpu, sizeof cpu), clock);
}

void lb_text_ranks(const struct lb_sink_state *state)
{
    for (size_t i = 0; i < state->report->n_cells; i++) {
        const struct lb_cell *cell = &state->report->cells[i];
        const struct lb_ranks *ranks =
            cell->n_runs > 0 ? &cell->runs[cell->n_runs - 1]->ranks : NULL;
        if (ranks == NULL || ranks->n == 0)
            continue;
        fprintf(state->out, "\nranks: %s on %s, %s\n", cell->name, cell->engine,
                cell->scenario.name);
        for (uint32_t r = 0; r < ranks->n; r++)
            print_rank(state, &ranks->rows[r], r);
    }
}
