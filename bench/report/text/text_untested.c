/* The guarantees that were claimed and not tested: a row that is held does not show them. */
#include "text.h"

#include "append.h"
#include "table.h"

#include <stdio.h>

void lb_text_untested(const struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    char text[600] = "";
    for (int g = 0; g < LB_GUARANTEES; g++) {
        size_t n = 0, n_done = 0;
        for (size_t i = 0; i < report->n_cells; i++) {
            const struct lb_outcome *run = NULL;
            const struct lb_cell *cell = &report->cells[i];
            const struct lb_finding *finding =
                cell->state == LB_CELL_DONE ? lb_cell_finding(cell, (enum lb_guarantee)g, &run)
                                            : NULL;
            n_done += cell->state == LB_CELL_DONE;
            n += finding != NULL && finding->verdict == LB_V_NOT_TESTED;
        }
        if (n == 0)
            continue;
        lb_append(text, sizeof text, "%s%s", text[0] != '\0' ? ", " : "claimed, and not tested: ",
                  lb_guarantee_name((enum lb_guarantee)g));
        if (n_done > 1)
            lb_append(text, sizeof text, " (%zu of %zu rows)", n, n_done);
    }
    if (text[0] == '\0')
        return;
    fputc('\n', state->out);
    lb_print_wrapped(state->out, text, 0, state->width);
}
