/* The guarantees that were claimed and not tested: a row that is held does not show them. Of each,
 * the first rows are named, and the option that tests it. */
#include "text.h"

#include "append.h"
#include "untested.h"

#include <stdio.h>
#include <string.h>

enum { MOST_NAMED = 3 };

static bool is_untested(const struct lb_cell *cell, enum lb_guarantee guarantee)
{
    const struct lb_outcome *run = NULL;
    const struct lb_finding *finding =
        cell->state == LB_CELL_DONE ? lb_cell_finding(cell, guarantee, &run) : NULL;
    return finding != NULL && finding->verdict == LB_V_NOT_TESTED;
}

/* True if strategy and engine have several rows: only the scenario distinguishes them. */
static bool has_others(const struct lb_report *report, const struct lb_cell *cell)
{
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *other = &report->cells[i];
        if (other != cell && other->state == LB_CELL_DONE && strcmp(other->name, cell->name) == 0 &&
            strcmp(other->engine, cell->engine) == 0)
            return true;
    }
    return false;
}

/* "recovery in 5 of 27 rows: a on sqlite, b on sqlite, c on sqlite and 2 more". Returns the first
 * of the rows; NULL: there is none. */
static const struct lb_cell *name_rows(const struct lb_report *report, enum lb_guarantee guarantee,
                                       char *text, size_t size)
{
    char rows[600] = "";
    size_t n = 0, n_done = 0;
    const struct lb_cell *first = NULL;
    text[0] = '\0';
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        n_done += cell->state == LB_CELL_DONE;
        if (!is_untested(cell, guarantee))
            continue;
        first = first != NULL ? first : cell;
        if (n++ >= MOST_NAMED)
            continue;
        lb_append(rows, sizeof rows, "%s%s on %s", n > 1 ? ", " : "", cell->name, cell->engine);
        if (has_others(report, cell))
            lb_append(rows, sizeof rows, " (%s)", cell->scenario.name);
    }
    if (first == NULL)
        return NULL;
    lb_append(text, size, "%s", lb_guarantee_name(guarantee));
    if (n_done > 1)
        lb_append(text, size, " in %zu of %zu rows: %s", n, n_done, rows);
    if (n_done > 1 && n > MOST_NAMED)
        lb_append(text, size, " and %zu more", n - MOST_NAMED);
    return first;
}

void lb_text_untested(const struct lb_sink_state *state)
{
    bool is_first = true;
    for (int g = 0; g < LB_GUARANTEES; g++) {
        char text[900];
        const struct lb_cell *cell =
            name_rows(state->report, (enum lb_guarantee)g, text, sizeof text);
        if (cell == NULL)
            continue;
        if (is_first)
            fputc('\n', state->out);
        is_first = false;
        const char *option = lb_untested_option(cell, (enum lb_guarantee)g);
        lb_text_say(state, 0, "claimed, and not tested: %s%s%s%s", text,
                    option[0] != '\0' ? "; " : "", option, option[0] != '\0' ? " tests it" : "");
    }
}
