/* The table of waits by tenant and by priority: see cell_waits.h. */
#include "cell_waits.h"
#include "table.h"
#include "text.h"
#include "units.h"

#include <math.h>
#include <stdio.h>

static const struct lb_column columns[] = {
    {"strategy", false}, {"engine", false}, {"scenario", false}, {"items of", false},
    {"claimed", true},   {"items/s", true}, {"p50", true},       {"p95", true},
    {"max", true},       {"left", true},    {"served", true}};

static void add_ns(struct lb_table *table, const struct lb_cell_waits *waits, uint64_t ns)
{
    char text[32];
    lb_table_add(table, waits->n_claimed > 0 ? lb_format_ns(ns, text, sizeof text) : "never",
                 LB_INK_PLAIN);
}

static void add_row(struct lb_table *table, const struct lb_cell *cell, enum lb_waits_by by,
                    const struct lb_cell_waits *waits)
{
    char text[64] = "";
    const struct lb_estimate *served = &waits->served;
    lb_text_add_cell(table, cell);
    lb_table_add(table, waits->first->name, LB_INK_PLAIN);
    lb_table_add_number(table, (double)waits->n_claimed);
    lb_table_add_number(table, waits->rate);
    add_ns(table, waits, waits->p50_ns);
    add_ns(table, waits, waits->p95_ns);
    add_ns(table, waits, waits->max_ns);
    lb_table_add_number(table, (double)waits->n_left);
    if (by == LB_BY_TENANT && isfinite(served->interval.high))
        snprintf(text, sizeof text, "%.2f [%.2f, %.2f]", served->value, served->interval.low,
                 served->interval.high);
    else if (by == LB_BY_TENANT && isfinite(served->value))
        snprintf(text, sizeof text, "%.2f", served->value);
    lb_table_add(table, text, LB_INK_PLAIN);
}

struct lb_table *lb_text_wait_table(const struct lb_report *report)
{
    struct lb_table *table = lb_table_new(columns, sizeof columns / sizeof columns[0]);
    struct lb_cell_waits waits;
    for (enum lb_waits_by by = 0; by < LB_WAITS_BY; by++)
        for (size_t i = 0; i < report->n_cells; i++)
            for (size_t k = 0; lb_waits_of(&report->cells[i], by, k, &waits); k++)
                add_row(table, &report->cells[i], by, &waits);
    return table;
}

void lb_text_waits(const struct lb_sink_state *state)
{
    static const char *const order[] = {"scenario", "engine", "claimed", "p95", NULL};
    struct lb_table *table = lb_text_wait_table(state->report);
    if (lb_table_is_empty(table)) {
        lb_table_free(table);
        return;
    }
    fputs("\nWaits of items\n", state->out);
    lb_table_show(table, state->width, order, state->out, state->color);
    lb_print_wrapped(state->out, LB_WAITS_READING, 0, state->width);
}
