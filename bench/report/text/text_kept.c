/* Long runs that kept their history until the end, which takes memory or disk: why they did. */
#include "text.h"

#include "table.h"
#include "units.h"

#include <stdio.h>
#include <string.h>

enum { EVENT_BYTES = 32 };

void lb_text_kept(const struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    bool is_first = true;
    for (size_t i = 0; i < report->n_cells && strcmp(report->command, "run") == 0; i++) {
        const struct lb_cell *cell = &report->cells[i];
        for (size_t k = 0; k < cell->n_runs; k++) {
            const struct lb_outcome *run = cell->runs[k];
            const uint64_t n_kept = run->n_events - run->n_settled;
            char text[500], kept[32], all[32];
            if (run->kept[0] == '\0')
                continue;
            snprintf(
                text, sizeof text,
                "history: %s on %s, %s: %s of %s events were kept until the end (%.1f MB): %s.",
                cell->name, cell->engine, cell->scenario.name,
                lb_format_count((double)n_kept, kept, sizeof kept),
                lb_format_count((double)run->n_events, all, sizeof all),
                (double)(n_kept * EVENT_BYTES) / 1e6, run->kept);
            if (is_first)
                fputc('\n', state->out);
            is_first = false;
            lb_print_wrapped(state->out, text, 0, state->width);
            break;
        }
    }
}
