/* The table of claims of several sizes: see batches.h. */
#include "batches.h"
#include "table.h"
#include "text.h"

#include <stdio.h>

static const struct lb_column columns[] = {{"strategy", false}, {"engine", false},
                                           {"scenario", false}, {"success/s", true},
                                           {"in hand", true},   {"at a death", false}};

static void add_row(struct lb_table *table, const struct lb_batch_row *row)
{
    char text[80];
    lb_text_add_cell(table, row->cell);
    lb_table_add_number(table, row->successes_per_s);
    lb_table_add_time(table, row->in_hand_ns > 0 ? (uint64_t)row->in_hand_ns : UINT64_MAX);
    lb_table_add(table, lb_batch_fate(row, text, sizeof text), LB_INK_PLAIN);
}

struct lb_table *lb_text_batch_table(const struct lb_batches *batches)
{
    struct lb_table *table = lb_table_new(columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < batches->n; i++)
        add_row(table, &batches->rows[i]);
    return table;
}

void lb_text_batches(const struct lb_sink_state *state)
{
    struct lb_batches batches;
    lb_batches_make(state->report, &batches);
    if (batches.n == 0)
        return;
    struct lb_table *table = lb_text_batch_table(&batches);
    lb_batches_release(&batches);
    static const char *const order[] = {"engine", NULL};
    fputs("\nBy items per claim\n", state->out);
    lb_table_show(table, state->width, order, state->out, state->color);
    lb_print_wrapped(state->out, LB_BATCHES_READING, 0, state->width);
}
